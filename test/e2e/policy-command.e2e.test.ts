// `weir policy` from a shell: next to a turn that runs on the embedded bus, and over the log of one
// that is over.

import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import type { Timeline } from '../../shared/view/timeline.ts'
import { until } from '../support/inbox.ts'
import { always, call, says, systemOf } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder | undefined

afterEach(async () => {
  await commands?.close()
  commands = undefined
})

/** A model that repeats one failing call. Each call waits for a file of the test. */
async function openFolder(): Promise<CommandFolder> {
  commands = await openCommandFolder(always(() => says(call('try', { what: 'it' }))))
  const waits =
    'echo >> tries; n=$(($(wc -l < tries))); while [ ! -e go-$n ]; do sleep 0.05; done; echo broken >&2; exit 1'
  await writeFile(
    join(commands.folder, 'coder.yaml'),
    `system: You are under test.
model: { provider: anthropic, name: scripted, baseUrl: '${commands.server.url}', maxOutputTokens: 1000 }
tools:
  - { name: try, description: tries, schema: { type: object }, cwd: ., command: [sh, -c, ${JSON.stringify(waits)}] }
`,
  )
  return commands
}

describe('weir policy', () => {
  it('counts from the next round of a running turn: a threshold, a rule in shadow, enforced again, and all unset', async () => {
    const { run, start, folder, server } = await openFolder()
    const asking = start(['ask', '--agent', 'coder.yaml', '--conversation', 'c', 'go'])
    const tries = () =>
      existsSync(join(folder, 'tries')) ? readFileSync(join(folder, 'tries'), 'utf8').length : 0
    /** Acts while the tool of round `n` runs. It counts from the next round on. */
    const during = async (n: number, ...change: string[]) => {
      await until(async () => tries() === n)
      if (change.length > 0)
        expect(await run(['policy', ...change])).toMatchObject({ code: 0, errors: '' })
      await writeFile(join(folder, `go-${n}`), '')
    }
    await during(1, 'set', 'coder', 'loop.identicalFailures=2', 'rule.identical-failure=shadow')
    await during(2)
    await during(3, 'set', 'coder', 'rule.identical-failure=enforce')
    await during(4, 'unset', 'coder')
    await during(5)
    const { code, errors } = await asking.ended
    expect(code).toBe(0)
    expect(errors.match(/intervention:/g)).toHaveLength(2)

    const shown = server.requests.map((request) => [
      /^SYSTEM INTERVENTION/m.test(systemOf(request)),
      request.tool_choice?.type === 'none',
    ])
    expect(shown).toEqual([
      [false, false],
      [false, false],
      [false, false],
      [false, false],
      [true, false],
      [true, true],
    ])

    const timeline: Timeline = JSON.parse((await run(['inspect', 'c', '--json'])).out)
    const rounds = timeline.turns[0]?.rounds ?? []
    expect(rounds.map(({ policy }) => policy?.differs)).toEqual([
      {},
      { 'loop.identicalFailures': '2', 'rule.identical-failure': 'shadow' },
      { 'loop.identicalFailures': '2', 'rule.identical-failure': 'shadow' },
      { 'loop.identicalFailures': '2' },
      {},
      {},
    ])
    expect(
      rounds.map(({ shadowed, intervention }) => [
        shadowed.map(({ action }) => action).join(),
        intervention?.action ?? '',
      ]),
    ).toEqual([
      ['', ''],
      ['nudge', ''],
      ['text_only', ''],
      ['', 'nudge'],
      ['', 'text_only'],
      ['', ''],
    ])
    expect(new Set(rounds.map(({ policy }) => policy?.version)).size).toBe(3)
    expect((await run(['inspect', 'c'])).out).toContain(
      'in shadow nudge (rule identical-failure, version 5): try(',
    )
  })

  it('sets, shows, compares and unsets, and suggests the nearest name', async () => {
    const { run, folder } = await openFolder()
    expect((await run(['policy', 'get'])).errors).toContain('there is no log')
    expect(await run(['policy', 'set', '*', 'rule.sweep=shadow', 'caps.rounds=10'])).toMatchObject({
      code: 0,
      out: `for all agents, from the next model response on, without a restart:
caps.rounds: ? (each agent's own value) → at most 10 (set for all agents)
rule.sweep: ? (each agent's own value) → shadow (set for all agents)
`,
    })
    expect(
      await run(['policy', 'set', 'coder', 'rule.sweep=enforce', '--by', 'anna']),
    ).toMatchObject({
      out: `for agent coder, from the next model response on, without a restart:
rule.sweep: shadow (set for all agents) → enforce (set for this agent)
`,
    })
    const got = JSON.parse((await run(['policy', 'get', 'coder', '--json'])).out)
    expect(got).toMatchObject({
      agent: 'coder',
      set: { 'rule.sweep': 'enforce' },
      setBy: 'anna',
      leftAside: [],
    })
    expect(got.effective).toMatchObject({
      'rule.sweep': { value: 'enforce', origin: 'operator' },
      'caps.rounds': { value: '10', origin: 'operator-all', atMost: true },
      'caps.tokens': { value: null, origin: 'unknown' },
    })
    expect(got.own).toBe(null)
    expect((await run(['policy', 'get'])).out).toMatch(
      /^all agents: set by .*\n {2}caps.rounds +10\n {2}rule.sweep +shadow\nagent coder: set by anna/,
    )

    expect(await run(['policy', 'diff', 'coder', 'rule.sweep=enforce'])).toMatchObject({
      code: 0,
      out: 'no difference for agent coder\n',
    })
    await writeFile(join(folder, 'coder.json'), '{"loop.cycleLaps": 4}')
    const differs = await run(['policy', 'diff', 'coder', '--file', 'coder.json', '--json'])
    expect(differs.code).toBe(1)
    expect(
      differs.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      {
        key: 'loop.cycleLaps',
        before: { value: null, origin: 'unknown' },
        after: { value: '4', origin: 'operator' },
      },
      {
        key: 'rule.sweep',
        before: { value: 'enforce', origin: 'operator' },
        after: { value: 'shadow', origin: 'operator-all' },
      },
    ])
    expect((await run(['policy', 'set', 'coder', '--file', 'coder.json'])).out).toContain(
      "loop.cycleLaps: ? (unknown: the agent's own value; Weir's default is 3) → 4",
    )
    const inFile = await run(['policy', 'get', 'coder', '--agent', 'coder.yaml'])
    expect(inFile.out).toContain('its own values are those of coder.yaml')
    expect(inFile.out).toMatch(/caps\.rounds +10 +set for all agents/)
    expect((await run(['policy', 'unset', 'coder', 'loop.cycleLaps'])).code).toBe(0)
    expect(await run(['policy', 'unset', 'coder'])).toMatchObject({
      code: 2,
      errors: 'weir: nothing is set for agent coder; it is for all agents\n',
    })
  })

  it.each<[string[], string]>([
    [['set', 'coder', 'rule.cycel=shadow'], 'did you mean rule.cycle?'],
    [['unset', 'coder', 'rule.cycel'], 'did you mean rule.cycle?'],
    [['diff', 'coder', '--file', 'missing.json'], 'missing.json does not exist'],
  ])('refuses %j before it opens anything', async (args, fault) => {
    const { run, folder } = await openFolder()
    const { code, errors } = await run(['policy', ...args])
    expect(code).toBe(2)
    expect(errors).toContain(fault)
    expect(existsSync(join(folder, '.weir'))).toBe(false)
  })
})
