// The tool kind `module` with real processes. Nothing here is timed: a late event waits for a file, and the tool's timeout bounds the wait for
// an event that must not come.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, it } from '@jest/globals'
import type { ModuleTool } from '../../../../shared/agents/agents.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { moduleTools } from '../../../../shared/tools/module/module.ts'
import {
  idleModulesMax,
  moduleIdleMs,
  moduleLoadMs,
} from '../../../../shared/tools/module/module-pool.ts'
import type { RunningTool, ToolCall, ToolEnding } from '../../../../shared/tools/tool.ts'
import { clockFiring } from '../../../support/clock-firing.ts'
import { until } from '../../../support/inbox.ts'

const file = fileURLToPath(new URL('../../../support/tools/module-behave.ts', import.meta.url))
const parent = fileURLToPath(new URL('../../../support/tools/module-parent.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'weir-module-'))
const modules = moduleTools()
const running: RunningTool[] = []
let files = 0

afterEach(async () => {
  for (const one of running) one.stop(0, 'the test is over')
  await Promise.all(running.splice(0).map(({ ended }) => ended))
})
afterAll(() => {
  modules.close()
  rmSync(folder, { recursive: true })
})

type Arguments = { how: string; copy?: string; size?: number; lines?: string[] }
type Options = { run?: Partial<ModuleTool>; call?: Partial<ToolCall> }

function start(args: Arguments, { run = {}, call = {} }: Options = {}): RunningTool {
  const started = modules.start(
    { kind: 'module', file, ...run },
    {
      arguments: JSON.stringify(args),
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

function behave(how: string, options?: Options & { size?: number }): Promise<ToolEnding> {
  return start({ how, size: options?.size }, options).ended
}

/** Starts it and waits until it reports that it is ready. */
async function behaveUntil(
  text: RegExp,
  how: string,
  call: Partial<ToolCall> = {},
): Promise<{ tool: RunningTool; seen: string }> {
  const copy = newFile()
  const tool = start({ how, copy }, { call })
  return { tool, seen: await contentOf(copy, text) }
}

async function contentOf(copy: string, text: RegExp): Promise<string> {
  let content = ''
  await until(async () => {
    content = await readFile(copy, 'utf8').catch(() => '')
    return text.test(content)
  })
  return content
}

function newFile(content?: string, ending = '.mjs'): string {
  files += 1
  const path = join(folder, `${files}${ending}`)
  if (content !== undefined) writeFileSync(path, content)
  return path
}

/**
 * A process that ended and was not reaped is a zombie. Without an init process it stays one.
 */
function isGone(pid: number): boolean {
  return !isThere(pid) || /\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function pidOf(): Promise<string> {
  return (await behave('pid')).text.split(' ')[0] ?? ''
}

const mayBePartDone = 'It may have done a part of its work; check before doing it again.'
const setupAdvice =
  'This is a fault of the set-up, not of the arguments: do not retry, continue without this tool or tell the user.'

describe('a module with several functions', () => {
  const tools = newFile(
    'export const pay = ({ how }) => "paid " + how\nexport function refund() { return "refunded" }\nexport const rate = 2\n',
  )
  const behaveAs = (name: string, path = tools) =>
    behave('x', { run: { file: path, entry: { kind: 'export', name } } })

  it('runs the export that the tool names', async () => {
    expect(await behaveAs('pay')).toEqual({ status: 'ok', text: 'paid x', reason: '' })
    expect(await behaveAs('refund')).toEqual({ status: 'ok', text: 'refunded', reason: '' })
  })

  it('may be CommonJS', async () => {
    const path = newFile('const all = { pay() { return "paid" } }\nmodule.exports = all\n', '.cjs')
    expect(await behaveAs('pay', path)).toMatchObject({ text: 'paid' })
  })

  it.each(['pai', 'rate', 'toString'])('names its functions in place of %s', async (name) => {
    const { fault } = await behaveAs(name)
    expect(fault).toContain(`it exports no function '${name}'; its functions: pay, refund`)
  })
})

describe('a function that returns', () => {
  it('gets the arguments, and the JSON of the object that it returns is the result', async () => {
    const started = start({ how: 'echo', copy: 'héllo' })
    expect(await started.started).toBe(true)
    expect(await started.ended).toEqual({
      status: 'ok',
      text: '{"how":"echo","copy":"héllo"}',
      reason: '',
    })
  })

  it('may return a text, or nothing', async () => {
    expect(await behave('text', { size: 2 })).toEqual({ status: 'ok', text: 'éé', reason: '' })
    expect(await behave('nothing')).toEqual({ status: 'ok', text: '', reason: '' })
  })

  it('gets the idempotency key', async () => {
    expect(await behave('key')).toMatchObject({ text: '["c",7,1,0]' })
  })

  it('sees only PATH and the variables that the agent file allows', async () => {
    process.env.WEIR_TEST_ALLOWED = 'yes'
    process.env.WEIR_TEST_SECRET = 'hush'
    const { text } = await behave('environment', {
      run: { environment: ['WEIR_TEST_ALLOWED', 'WEIR_TEST_ABSENT'] },
    })
    delete process.env.WEIR_TEST_ALLOWED
    delete process.env.WEIR_TEST_SECRET
    expect(JSON.parse(text)).toEqual({ PATH: process.env.PATH, WEIR_TEST_ALLOWED: 'yes' })
  })

  it('has its printed output next to its result', async () => {
    expect(await behave('print')).toEqual({
      status: 'ok',
      text: 'printed',
      reason: '',
      printed: 'to the output\nto the error output\n',
    })
    expect(await behave('nothing')).toEqual({ status: 'ok', text: '', reason: '' })
  })

  it('has the end of a long printed output', async () => {
    const { text, printed } = await behave('print much')
    expect(text).toBe('printed much')
    expect(Buffer.byteLength(printed ?? '')).toBeLessThanOrEqual(8 * 1024)
    expect(printed).toMatch(/line \d+ é\n$/)
  })

  it('cannot forge its result', async () => {
    expect(await behave('send')).toMatchObject({ text: 'undefined' })
  })

  it('may stand in a CommonJS file', async () => {
    for (const content of [
      'module.exports = async () => "here"',
      'exports.__esModule = true; exports.default = async () => "here"',
    ])
      expect(await behave('', { run: { file: newFile(content, '.cjs') } })).toMatchObject({
        status: 'ok',
        text: 'here',
      })
  })
})

describe('a result', () => {
  it('is truncated at a whole character, with a note', async () => {
    const ending = await behave('text', { size: 5_000_000, run: { outputBytesMax: 10_001 } })
    expect(ending).toEqual({
      status: 'ok',
      text: `${'é'.repeat(5_000)}\n[cut: this is the beginning of 10000000 bytes]`,
      reason: '',
    })
  })

  it('stays below the bound of a result with any setting of the agent file', async () => {
    const { text } = await behave('text', { size: 500_000, run: { outputBytesMax: 900_000 } })
    expect(Buffer.byteLength(text)).toBeLessThan(limits.resultBytesMax)
  })

  it('with half a character in it has a replacement and a note', async () => {
    expect(await behave('half a character')).toMatchObject({
      text: 'a\uFFFD\n[some bytes were not UTF-8 and are shown as \uFFFD]',
    })
  })

  it.each([
    [
      'a bigint',
      'no json',
      'its result has no JSON: TypeError: Do not know how to serialize a BigInt',
    ],
    [
      'a cycle',
      'cycle',
      'its result has no JSON: TypeError: Converting circular structure to JSON',
    ],
    ['a function', 'function', 'its result has no JSON: TypeError: a function has no JSON'],
  ])('with %s is an error', async (_, how, reason) => {
    expect(await behave(how)).toMatchObject({ status: 'error', reason })
  })
})

describe('a function that fails', () => {
  it('is an error with the name and the message of the exception; the stack goes to the log', async () => {
    const { printed, ...ending } = await behave('throw')
    expect(ending).toEqual({
      status: 'error',
      text: 'The tool failed.\nIts error:\nTypeError: no such row',
      reason: 'TypeError: no such row',
    })
    expect(printed).toContain('module-behave.ts')
  })

  it('has the causes of its error in it', async () => {
    expect(await behave('throw late')).toMatchObject({
      reason: 'Error: fetch failed - caused by Error: connect ECONNREFUSED',
    })
  })

  it('may throw anything', async () => {
    expect(await behave('throw a text')).toMatchObject({ status: 'error', reason: 'just a text' })
    expect(await behave('throw nonsense')).toMatchObject({
      status: 'error',
      reason: 'an error that cannot be shown',
    })
  })

  it('keeps its process', async () => {
    const pid = await pidOf()
    await behave('throw')
    expect(await pidOf()).toBe(pid)
  })
})

describe('a process that ends during a call', () => {
  it.each([
    [
      'exits',
      'exit',
      'its process ended: exit code 0',
      `(exit code 0) before the tool returned a result. ${mayBePartDone}`,
      0,
    ],
    [
      'exits with a code',
      'exit',
      'its process ended: exit code 3',
      `(exit code 3) before the tool returned a result. ${mayBePartDone}`,
      3,
    ],
    ['says why it exits', 'exit with words', 'Error: quota exceeded', '(exit code 1)', 1],
    ['is killed', 'signal', 'its process ended: signal SIGKILL', '(signal SIGKILL)', 0],
    [
      'crashes',
      'uncaught',
      'RangeError: thrown where nobody catches',
      `The tool crashed. ${mayBePartDone}`,
      0,
    ],
    [
      'leaves a denial alone',
      'unhandled',
      'RangeError: rejected where nobody handles',
      'The tool crashed.',
      0,
    ],
    [
      'lets go of its parent',
      'disconnect',
      'its process ended: signal SIGKILL',
      '(signal SIGKILL)',
      0,
    ],
  ])(
    'because it %s, is an error, and the next call has another',
    async (_, how, reason, text, size) => {
      const pid = await pidOf()
      expect(await behave(how, { size })).toMatchObject({
        status: 'error',
        reason,
        text: expect.stringContaining(text),
      })
      expect(await pidOf()).not.toBe(pid)
      await until(() => isGone(Number(pid)))
    },
  )

  it('that runs out of memory is an error with that reason', async () => {
    expect((await behave('out of memory')).reason).toMatch(/^FATAL ERROR: .*out of memory/)
  })
})

describe('processes', () => {
  it('are kept for the next call', async () => {
    const pids = [await pidOf(), await pidOf(), await pidOf()]
    expect(new Set(pids).size).toBe(1)
  })

  it('run one call at a time', async () => {
    const [a, b] = await Promise.all([pidOf(), pidOf()])
    expect(a).not.toBe(b)
  })

  it('are not shared by tools that may see different variables', async () => {
    const other = await behave('pid', { run: { environment: ['HOME'] } })
    expect(other.text.split(' ')[0]).not.toBe(await pidOf())
  })

  it('that hold too much memory get no further call', async () => {
    const { text: pid } = await behave('grow', { size: limits.moduleMemoryBytesMax })
    await until(() => isGone(Number(pid)))
    expect(await pidOf()).not.toBe(pid)
  })

  it('that were killed while they waited are replaced', async () => {
    const pid = Number(await pidOf())
    process.kill(pid, 'SIGKILL')
    await until(() => !isThere(pid))
    expect(await behave('pid')).toMatchObject({ status: 'ok' })
  })

  it('wait for a call, but not too many of them', async () => {
    const own = moduleTools()
    const call = {
      arguments: '{"how":"pid"}',
      idempotencyKey: '',
      timeoutMs: 20_000,
      graceMs: 0,
      clock: systemClock,
    }
    const pid = async () =>
      Number((await own.start({ kind: 'module', file }, call).ended).text.split(' ')[0])
    const pids = await Promise.all(Array.from({ length: idleModulesMax + 2 }, pid))
    await until(() => pids.filter((one) => isGone(one)).length === 2)
    own.close()
    await until(() => pids.every((one) => isGone(one)))
  })

  it('do not wait for ever', async () => {
    const after = (ms: number, fire: () => void) =>
      systemClock.after(ms === moduleIdleMs ? 0 : ms, fire)
    const { text } = await behave('pid', { call: { clock: { ...systemClock, after } } })
    await until(() => isGone(Number(text.split(' ')[0])))
  })

  it('end with their parent, in every way that it can end', async () => {
    const copy = newFile()
    const killed = spawn(process.execPath, [parent, file, JSON.stringify({ how: 'loop', copy })], {
      stdio: 'ignore',
    })
    const pid = Number(await contentOf(copy, /^\d+$/))
    killed.kill('SIGKILL')
    await until(() => isGone(pid))
  })
})

describe('a function that does not return', () => {
  it('times out, gets the stop signal, and its process ends', async () => {
    const pid = await pidOf()
    const copy = newFile()
    const isReady = () => existsSync(copy)
    const call = { timeoutMs: 500, clock: clockFiring(500, isReady) }
    expect(await start({ how: 'obedient', copy }, { call }).ended).toEqual({
      status: 'timed_out',
      text: `The tool was stopped because it did not finish within 500 ms. ${mayBePartDone}`,
      reason: 'timed out after 500 ms',
    })
    await until(() => isGone(Number(pid)))
  })

  it('is killed after its grace if it ignores the signal', async () => {
    const copy = newFile()
    const clock = clockFiring(500, () => existsSync(copy))
    const call = { timeoutMs: 500, graceMs: 50, clock }
    expect(await start({ how: 'hang', copy }, { call }).ended).toMatchObject({
      status: 'timed_out',
    })
  })

  it('is killed also in a loop that never ends, with all that it started', async () => {
    let isSeen = false
    const clock = clockFiring(1_000, () => isSeen)
    const call = { timeoutMs: 1_000, graceMs: 50, clock }
    const looping = await behaveUntil(/^\d+$/, 'loop', call)
    isSeen = true
    expect(await looping.tool.ended).toMatchObject({ status: 'timed_out' })
    await until(() => isGone(Number(looping.seen)))
    const { tool, seen } = await behaveUntil(/\.$/, 'tree')
    tool.stop(0, 'the turn was cancelled')
    expect(await tool.ended).toMatchObject({ status: 'unknown' })
    for (const pid of seen.match(/\d+/g) ?? []) await until(() => isGone(Number(pid)))
  })
})

describe('a function that is stopped', () => {
  it('has its result if it finishes its work', async () => {
    const { tool } = await behaveUntil(/ready/, 'polite')
    tool.stop(10_000, 'the turn was cancelled')
    expect(await tool.ended).toEqual({ status: 'ok', text: 'finished', reason: '' })
  })

  it('has an unknown outcome if it aborts its work, or is killed', async () => {
    for (const [how, graceMs] of [
      ['obedient', 10_000] as const,
      ['hang', 50] as const,
      ['hang', 0] as const,
    ]) {
      const { tool } = await behaveUntil(/ready/, how)
      tool.stop(graceMs, 'the turn was cancelled')
      expect(await tool.ended).toMatchObject({
        status: 'unknown',
        text: 'The tool was stopped while it ran: the turn was cancelled. It may have run, or may still take effect; check before doing it again.',
        reason: 'stopped: the turn was cancelled',
      })
    }
  })

  it('is skipped when it had not begun', async () => {
    const started = start({ how: 'echo' }, { run: { file: newFile('export default () => {}') } })
    started.stop(10_000, 'the turn was cancelled')
    expect(await started.started).toBe(false)
    expect(await started.ended).toMatchObject({
      status: 'skipped',
      reason: 'stopped before it began: the turn was cancelled',
    })
  })

  it('after its end is not stopped any more', async () => {
    const started = start({ how: 'nothing' })
    await started.ended
    started.stop(0, 'the turn was cancelled')
    expect(await started.ended).toMatchObject({ status: 'ok' })
    expect(await behave('nothing')).toMatchObject({ status: 'ok' })
  })
})

describe('a module that cannot be loaded', () => {
  it('is an error that does not name it; the log does', async () => {
    const absent = newFile()
    const started = start({ how: '' }, { run: { file: absent } })
    expect(await started.started).toBe(false)
    const { fault, ...ending } = await started.ended
    expect(ending).toEqual({
      status: 'error',
      text: `The tool could not be started: its module could not be loaded (ERR_MODULE_NOT_FOUND). ${setupAdvice}`,
      reason: 'could not be started: ERR_MODULE_NOT_FOUND',
    })
    expect(fault).toContain(`cannot load the module ${absent}: Error [ERR_MODULE_NOT_FOUND]`)
  })

  it.each([
    ['is no JavaScript', 'export default (', '.mjs', 'could not be started: SyntaxError'],
    [
      'is TypeScript that must be compiled',
      'enum A { B }\nexport default () => A.B',
      '.ts',
      'could not be started: ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
    ],
    ['throws', 'throw new RangeError("top level")', '.mjs', 'could not be started: RangeError'],
    [
      'throws later',
      'setTimeout(() => { throw new RangeError() }); await new Promise((r) => setTimeout(r, 1e6))',
      '.mjs',
      'could not be started: RangeError',
    ],
    [
      'has no default export',
      'export const tool = () => {}',
      '.mjs',
      'could not be started: NO_FUNCTION',
    ],
    [
      'has another default export',
      'export default { tool: () => {} }',
      '.mjs',
      'could not be started: NO_FUNCTION',
    ],
    ['ends its process', 'process.exit(0)', '.mjs', 'could not be started: exit code 0'],
    [
      'never comes to its end',
      'await new Promise(() => {}); export default () => {}',
      '.mjs',
      'could not be started: exit code 0',
    ],
  ])('because it %s, is an error', async (_, content, ending, reason) => {
    const module = newFile(content, ending)
    const result = await behave('', { run: { file: module } })
    expect(result).toMatchObject({
      status: 'error',
      reason,
      fault: expect.stringContaining(module),
    })
    expect(result.text + result.reason).not.toContain(folder)
  })

  it('within the time of the tool is not called; it may be for the next call', async () => {
    const module = newFile(
      'await new Promise((resolve) => setTimeout(resolve, 1_000)); export default () => "at last"',
    )
    const options = { run: { file: module }, call: { timeoutMs: 300 } }
    expect(await behave('', options)).toMatchObject({
      status: 'error',
      reason: 'not ready within 300 ms',
    })
    await until(async () => (await behave('', options)).text === 'at last')
  })

  it('at all, is not called, and its process ends', async () => {
    let isFirstSeen = false
    const pid = newFile()
    const module = newFile(
      `import { writeFileSync } from 'node:fs'; writeFileSync('${pid}', String(process.pid)); for (;;);`,
    )
    const call = {
      timeoutMs: 500,
      clock: clockFiring(moduleLoadMs, () => isFirstSeen),
    }
    const started = start({ how: '' }, { run: { file: module }, call })
    expect(await started.started).toBe(false)
    expect(await started.ended).toEqual({
      status: 'error',
      text: "The tool's module was not loaded within 500 ms. The call was not run.",
      reason: 'not ready within 500 ms',
      fault: expect.stringContaining(module),
    })
    await start({ how: '' }, { run: { file: module }, call }).ended // finds one that loads already
    const first = Number(await contentOf(pid, /^\d+$/))
    isFirstSeen = true
    await until(() => isGone(first))
  })
})

describe('a module that writes on the pipe between its process and Weir', () => {
  const answer = (fields: object) =>
    `${JSON.stringify({ type: 'returned', text: '', bytes: 0, replaced: false, memoryBytes: 1, ...fields })}\n`

  it.each<[string, string[]]>([
    ['a line that is no JSON', ['x\n']],
    ['a control message of Node', ['{"cmd":"NODE_HANDLE_ACK"}\n']],
    ['a list', ['[]\n']],
    ['JSON of a thousand levels', [`${'['.repeat(1_000)}\n`]],
    ['an answer without its members', ['{"type":"returned"}\n']],
    ['a result that is longer than its bound', [answer({ text: 'x'.repeat(300_000) })]],
    ['a line of three million characters', ['x'.repeat(1_500_000), 'x'.repeat(1_500_000)]],
  ])('fails alone with %s, and the next call runs', async (_, lines) => {
    expect(await start({ how: 'write on the channel', lines }).ended).toMatchObject({
      status: 'error',
      reason: 'its process ended: signal SIGKILL',
    })
    expect(await behave('nothing')).toMatchObject({ status: 'ok' })
  })

  it('fails alone with bytes that have no end', async () => {
    expect(await behave('flood the channel')).toMatchObject({
      status: 'error',
      reason: 'its process ended: signal SIGKILL',
    })
    expect(await behave('nothing')).toMatchObject({ status: 'ok' })
  })
})
