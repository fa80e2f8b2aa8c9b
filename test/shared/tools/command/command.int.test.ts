// The tool kind `command` with real processes. Nothing here is timed: a late event waits for an output, and the tool's timeout bounds the wait
// for an event that must not come.

import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals'
import type { CommandTool } from '../../../../shared/agents/agents.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { type Clock, systemClock } from '../../../../shared/lib/clock.ts'
import { startCommand } from '../../../../shared/tools/command/command.ts'
import type { RunningTool, ToolCall, ToolEnding } from '../../../../shared/tools/tool.ts'
import { until } from '../../../support/inbox.ts'

const tool = fileURLToPath(new URL('../../../support/tools/behave.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'weir-command-'))
const running: RunningTool[] = []
let copies = 0

afterEach(async () => {
  jest.restoreAllMocks()
  for (const one of running) one.stop(0, 'the test is over')
  await Promise.all(running.splice(0).map(({ ended }) => ended))
})
afterAll(() => rmSync(folder, { recursive: true }))

type Options = { run?: Partial<CommandTool>; call?: Partial<ToolCall> }

function start(argv: string[], { run = {}, call = {} }: Options = {}): RunningTool {
  const started = startCommand(
    { kind: 'command', argv: argv as [string, ...string[]], ...run },
    {
      arguments: '{}',
      idempotencyKey: '["c",7,1,0]',
      timeoutMs: 20_000,
      graceMs: 20_000,
      clock: systemClock,
      ...call,
    },
  )
  running.push(started)
  return started
}

/** Starts the test's own tool and waits for its end. */
function behave(how: string[], options?: Options): Promise<ToolEnding> {
  return start([process.execPath, tool, ...how], options).ended
}

/**
 * Starts it and waits until it reports that it is ready: a later signal then never hits a starting process.
 */
async function behaveUntil(
  text: RegExp,
  how: string[],
  call: Partial<ToolCall> = {},
): Promise<{ tool: RunningTool; seen: string }> {
  const copy = join(folder, String(copies))
  copies += 1
  process.env.TEST_COPY = copy
  const started = start([process.execPath, tool, ...how], {
    run: { environment: ['TEST_COPY'] },
    call,
  })
  delete process.env.TEST_COPY
  return { tool: started, seen: await contentOf(copy, text) }
}

async function contentOf(file: string, text: RegExp): Promise<string> {
  let content = ''
  await until(async () => {
    content = await readFile(file, 'utf8').catch(() => '')
    return text.test(content)
  })
  return content
}

/**
 * A process that ended and was not reaped is a zombie. Without an init process it stays one.
 */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return /\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return true
  }
}

describe('a program that ends well', () => {
  it('gets the arguments on its standard input, and its standard output is the result', async () => {
    const started = start([process.execPath, tool, 'echo'], {
      call: { arguments: '{"text":"héllo"}' },
    })
    expect(await started.started).toBe(true)
    expect(await started.ended).toEqual({ status: 'ok', text: '{"text":"héllo"}', reason: '' })
  })

  it('gets 5 MB of arguments whole', async () => {
    const text = JSON.stringify({ text: 'x'.repeat(5_000_000) })
    expect(await behave(['length'], { call: { arguments: text } })).toMatchObject({
      status: 'ok',
      text: String(text.length),
    })
  })

  it('need not read its arguments', async () => {
    const text = JSON.stringify({ text: 'x'.repeat(5_000_000) })
    expect(await behave(['deaf'], { call: { arguments: text } })).toMatchObject({
      status: 'ok',
      text: 'did not listen',
    })
  })

  it('is started without a shell', async () => {
    const ending = await start(['echo', '$HOME; exit 3', '*']).ended
    expect(ending).toMatchObject({ status: 'ok', text: '$HOME; exit 3 *\n' })
  })

  it('runs in the folder that the agent file names', async () => {
    expect(await behave(['folder'], { run: { cwd: folder } })).toMatchObject({ text: folder })
  })

  it('sees only PATH, the variables that the agent file allows, and its idempotency key', async () => {
    process.env.WEIR_TEST_ALLOWED = 'yes'
    process.env.WEIR_TEST_SECRET = 'hush'
    const { text } = await behave(['environment'], {
      run: { environment: ['WEIR_TEST_ALLOWED', 'WEIR_TEST_ABSENT'] },
    })
    delete process.env.WEIR_TEST_ALLOWED
    delete process.env.WEIR_TEST_SECRET
    expect(JSON.parse(text)).toEqual({
      PATH: process.env.PATH,
      WEIR_TEST_ALLOWED: 'yes',
      WEIR_IDEMPOTENCY_KEY: '["c",7,1,0]',
    })
  })

  it('may leave a process that holds its pipes open, and still has its result', async () => {
    const { status, text } = await behave(['leave-behind'])
    process.kill(Number(text))
    expect(status).toBe('ok')
  })
})

describe('output', () => {
  it('is truncated at a whole character with a note, and the program is read to its end', async () => {
    const ending = await behave(['flood', '4000000'], { run: { outputBytesMax: 10_001 } })
    expect(ending.status).toBe('ok')
    const [kept, note] = ending.text.split('\n[')
    expect(note).toMatch(/^cut: this is the beginning of \d{7} bytes\]$/)
    expect(Buffer.byteLength(ending.text.slice(0, ending.text.lastIndexOf('\n[')))).toBe(10_000)
    expect(kept).toMatch(/^[é\n]+$/)
  })

  it('of 100 MB keeps 32 KiB if the agent file sets nothing, and the note has its size', async () => {
    const { text } = await behave(['flood', '100000000'])
    expect(Buffer.byteLength(text)).toBeLessThan(33 * 1024)
    expect(Buffer.byteLength(text)).toBeGreaterThan(31 * 1024)
    expect(text).toMatch(/\n\[cut: this is the beginning of \d{9} bytes\]$/)
  })

  it('stays below the bound of a result with any setting of the agent file', async () => {
    const { text } = await behave(['flood', '1000000'], { run: { outputBytesMax: 900_000 } })
    expect(Buffer.byteLength(text)).toBeLessThan(limits.resultBytesMax)
    expect(text).toMatch(/\[cut: [^\]]*\]$/)
  })

  it('that is not UTF-8 is shown with replacements and a note', async () => {
    expect(await behave(['bytes', '6869ff21'])).toMatchObject({
      status: 'ok',
      text: 'hi\uFFFD!\n[some bytes were not UTF-8 and are shown as \uFFFD]',
    })
  })

  it('may be empty', async () => {
    expect(await behave(['bytes', ''])).toEqual({ status: 'ok', text: '', reason: '' })
  })
})

describe('a program that fails', () => {
  it('is an error with its first line as the reason', async () => {
    expect(await behave(['need-command'])).toEqual({
      status: 'error',
      text: "The tool failed with exit code 2.\nIts error output:\n\nmissing 'command' parameter\nusage: exec",
      reason: "missing 'command' parameter",
    })
  })

  it('has the error itself as its reason where it crashed with a stack trace', async () => {
    expect(await behave(['throw'])).toMatchObject({
      status: 'error',
      reason: 'TypeError: no such row',
    })
  })

  it('has its standard output as the reason where the error output is empty', async () => {
    expect(await behave(['fail-on-stdout'])).toEqual({
      status: 'error',
      text: 'The tool failed with exit code 1.\nIts output:\nquota exceeded',
      reason: 'quota exceeded',
    })
  })

  it('has its exit code as the reason where it wrote nothing', async () => {
    expect(await behave(['fail-silently'])).toEqual({
      status: 'error',
      text: 'The tool failed with exit code 3. It wrote nothing.',
      reason: 'exit code 3',
    })
  })

  it('shows the end of a long error output', async () => {
    const { text } = await behave(['flood-errors'])
    expect(text).toMatch(
      /^The tool failed with exit code 1\.\nIts error output:\n\[cut: this is the end\]\n/,
    )
    expect(text).toMatch(/line 19999 é$/)
    expect(Buffer.byteLength(text)).toBeLessThan(9_000)
  })

  it('is an error that names the signal when another process killed it', async () => {
    expect(await behave(['signal', 'SIGKILL'])).toEqual({
      status: 'error',
      text: 'The tool was killed by signal SIGKILL. It wrote nothing.',
      reason: 'signal SIGKILL',
    })
  })
})

describe('a program that does not end', () => {
  it('is stopped at its timeout', async () => {
    const ending = await behave(['hang'], { call: { timeoutMs: 1_000 } })
    expect(ending).toMatchObject({ status: 'timed_out', reason: 'timed out after 1000 ms' })
    expect(ending.text).toMatch(
      /^The tool was stopped because it did not finish within 1000 ms\. It may have done a part of its work/,
    )
  })

  it('is stopped at its timeout although it closed its output', async () => {
    expect(await behave(['hang-closed'], { call: { timeoutMs: 1_000 } })).toMatchObject({
      status: 'timed_out',
    })
  })

  it('is killed when it does not stop within its grace', async () => {
    const { tool: stubborn } = await behaveUntil(/ready/, ['stubborn'])
    stubborn.stop(100, 'the turn was cancelled')
    const { status, text } = await stubborn.ended
    expect([status, text.slice(-9)]).toEqual(['unknown', 'ready, no'])
  })

  it('is killed with all that it started, also processes that ignore SIGTERM', async () => {
    for (const how of ['', 'stubborn']) {
      const { tool: tree, seen } = await behaveUntil(/^\d+ \d+$/, ['tree', how])
      tree.stop(100, 'the turn was cancelled')
      expect(await tree.ended).toMatchObject({ status: 'unknown' })
      for (const pid of seen.split(' ')) await until(() => isGone(Number(pid)))
    }
  })

  it('does not hold up its result when even killing it does not end it', async () => {
    const kill = process.kill.bind(process)
    let isHasty = false
    const clock: Clock = {
      ...systemClock,
      after: (ms, fire) => systemClock.after(isHasty ? 0 : ms, fire),
    }
    const { tool: hanging } = await behaveUntil(/ready/, ['hang'], { clock })
    isHasty = true
    let pid = 0
    jest.spyOn(process, 'kill').mockImplementation((target, signal) => {
      pid = target
      return signal === 'SIGKILL' ? true : kill(target, signal)
    })
    hanging.stop(0, 'the turn was cancelled')
    expect(await hanging.ended).toMatchObject({ status: 'unknown' })
    kill(pid, 'SIGKILL')
  })
})

describe('a program that is stopped', () => {
  it('has an unknown outcome, with the reason and its output', async () => {
    const { tool: hanging } = await behaveUntil(/ready/, ['hang'])
    hanging.stop(10_000, 'the turn was cancelled')
    expect(await hanging.ended).toEqual({
      status: 'unknown',
      text:
        'The tool was stopped while it ran: the turn was cancelled. It may have run, or may still take effect; check before doing it again.\n' +
        'Its output:\nready',
      reason: 'stopped: the turn was cancelled',
    })
  })

  it('is killed at once without a grace, also after an earlier stop', async () => {
    const { tool: stubborn } = await behaveUntil(/ready/, ['stubborn'])
    stubborn.stop(1_000_000, 'the turn was cancelled')
    stubborn.stop(0, 'the executor shut down')
    expect(await stubborn.ended).toMatchObject({
      status: 'unknown',
      reason: 'stopped: the turn was cancelled',
    })
  })

  it('has its result if it finishes its work', async () => {
    const { tool: polite } = await behaveUntil(/ready/, ['polite', '0'])
    polite.stop(10_000, 'the turn was cancelled')
    expect(await polite.ended).toEqual({ status: 'ok', text: 'ready, finished', reason: '' })
  })

  it('has an unknown outcome if it aborts its work', async () => {
    const { tool: polite } = await behaveUntil(/ready/, ['polite', '143'])
    polite.stop(10_000, 'the turn was cancelled')
    expect(await polite.ended).toMatchObject({ status: 'unknown' })
  })

  it('after its end is not stopped any more', async () => {
    const started = start([process.execPath, tool, 'echo'])
    await started.ended
    const kill = jest.spyOn(process, 'kill')
    started.stop(0, 'the turn was cancelled')
    expect(kill).not.toHaveBeenCalled()
    expect(await started.ended).toMatchObject({ status: 'ok' })
  })
})

describe('a program that cannot be started', () => {
  const advice =
    'This is a fault of the set-up, not of the arguments: do not retry, continue without this tool or tell the user.'

  it('does not exist', async () => {
    const started = start(['/nowhere/program'])
    expect(await started.started).toBe(false)
    expect(await started.ended).toEqual({
      status: 'error',
      text: `The tool could not be started: its program was not found (ENOENT). ${advice}`,
      reason: 'could not be started: ENOENT',
      fault:
        'cannot start /nowhere/program: there is no such program; install it where PATH finds it, or correct its command in the agent file',
    })
    started.stop(0, 'it changes nothing')
  })

  it('must not be executed', async () => {
    const file = join(folder, 'not-executable')
    writeFileSync(file, '#!/bin/sh\n')
    chmodSync(file, 0o600)
    expect(await start([file]).ended).toMatchObject({
      status: 'error',
      reason: 'could not be started: EACCES',
    })
  })

  it('has no working folder', async () => {
    const ending = await behave(['echo'], { run: { cwd: join(folder, 'nowhere') } })
    expect(ending).toMatchObject({ status: 'error', reason: 'could not be started: ENOENT' })
    expect(ending.text).toContain('its working folder does not exist')
    expect(ending.text + ending.reason).not.toContain(folder)
  })

  it('has a name that no program can have', async () => {
    const started = start(['a\0b'])
    expect(await started.started).toBe(false)
    expect(await started.ended).toMatchObject({
      status: 'error',
      reason: 'could not be started: ERR_INVALID_ARG_VALUE',
    })
  })
})
