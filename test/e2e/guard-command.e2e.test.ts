// `weir guard`, and guards in the process of the stages, from a shell and on the embedded bus.

import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { openBusBeside } from '../../client/place/open-bus.ts'
import { loadAgents } from '../../client/weir.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { until, userMessage } from '../support/inbox.ts'
import { call, says, script, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'
import { metricOf, startUp } from '../support/weir-up.ts'

let commands: CommandFolder | undefined

afterEach(async () => {
  await commands?.close()
  commands = undefined
})

const guardFile = `
export default {
  name: 'no-removal', version: '1', tools: ['exec'], deadlineMs: 10000, onTimeout: 'deny',
  judge: (state, { calls }) => ({
    state,
    verdicts: calls.map(({ ordinal, arguments: { command } }) =>
      command.startsWith('rm') ? { ordinal, verdict: 'deny', code: 'removes', text: 'Nothing may be removed.' } : { ordinal, verdict: 'allow' }),
  }),
}
`

async function openFolder(): Promise<CommandFolder> {
  const removes = () => [says(call('exec', { command: 'rm x' })), says(text('Done.'))]
  commands = await openCommandFolder(script(...removes(), ...removes(), ...removes()))
  await writeFile(join(commands.folder, 'guard.mjs'), guardFile)
  return commands
}

const ask = ['ask', '--agent', 'agent.yaml', '--conversation', 'c']
const starts = async ({ folder }: CommandFolder) =>
  (await readFile(join(folder, 'starts'), 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '')

describe('weir guard', () => {
  it('runs, switches, lists, inspects and removes guards', async () => {
    const { run, ...rest } = await openFolder()
    const here = { run, ...rest }
    const shadow = await run([...ask, '--guard', 'guard.mjs', 'one'])
    expect(shadow).toMatchObject({ code: 0, out: 'Done.\n' })
    expect(await starts(here)).toHaveLength(1)

    expect((await run(['guard', 'list'])).out).toContain(
      'no call waits for it; where it enforces it has 10000 ms to answer, otherwise its calls are denied',
    )
    expect(await run(['guard', 'mode', 'no-removal', 'enforce'])).toMatchObject({
      code: 0,
      out: 'no-removal enforces for exec\n',
    })
    const enforced = await run([...ask, '--guard', 'guard.mjs', 'two'])
    expect(shadow.errors).not.toContain('stays in force')
    expect(enforced.errors).toContain('exec waits for guard no-removal')
    expect(enforced.errors).toContain(
      'exec denied before execution: vetoed by guard no-removal: removes',
    )
    expect(enforced.errors).toContain(
      'guard no-removal stays in force: without it, calls wait until its deadline',
    )
    expect(await starts(here)).toHaveLength(1)

    const listed = JSON.parse((await run(['guard', 'list', '--json'])).out)
    expect(listed).toMatchObject({
      name: 'no-removal',
      version: '1',
      mode: 'enforce',
      rounds: 2,
      denied: 1,
      wouldHaveDenied: 1,
      late: 0,
    })
    expect((await run(['guard', 'list'])).out).toContain(
      '2 rounds, 1 call denied, 1 would have been',
    )

    const page = (await run(['inspect', 'c'])).out
    expect(page).toMatch(/guard +no-removal 1, a shadow: answered after/)
    expect(page).toContain('call 0: would have been denied (removes)')
    expect(page).toContain('call 0: denied (removes); this stopped it')

    expect(await run(['guard', 'remove', 'no-removal'])).toMatchObject({ code: 0 })
    expect((await run(['guard', 'list'])).out).toContain('no guard is registered')
    expect(await run([...ask, 'three'])).toMatchObject({ code: 0 })
    expect(await starts(here)).toHaveLength(2)
  })

  it('switches, lists and removes guards next to a Weir that runs on the embedded bus', async () => {
    const here = await openFolder()
    const { run } = here
    await mkdir(join(here.folder, 'guards'))
    await writeFile(join(here.folder, 'guards', 'guard.mjs'), guardFile)
    const up = startUp(here, { args: ['--agents', 'agent.yaml', '--guards', 'guards'] })
    await up.untilReady()
    expect(JSON.parse((await up.probe('/readyz')).text).stages).toHaveProperty(['guard.no-removal'])
    expect(
      metricOf(await up.probe('/metrics'), 'weir_guard_rounds_total{guard="no-removal"}'),
    ).toBe(0)
    const lines = async () => JSON.parse((await run(['guard', 'list', '--json'])).out || 'null')
    expect(await lines()).toMatchObject({ name: 'no-removal', mode: 'shadow' })
    expect(await run(['guard', 'mode', 'no-removal', 'enforce'])).toMatchObject({
      code: 0,
      errors: '',
      out: 'no-removal enforces for exec\n',
    })
    expect(await lines()).toMatchObject({ name: 'no-removal', mode: 'enforce' })
    expect((await run(['guard', 'mode', 'nobody', 'enforce'])).errors).toContain(
      'registered guards: no-removal',
    )
    expect(await run(['guard', 'remove', 'no-removal'])).toMatchObject({ code: 0, errors: '' })
    expect(await lines()).toBe(null)
    up.signal('SIGTERM')
    expect((await up.ended).code).toBe(0)
  })

  it('runs a guard in its own process next to a Weir on the embedded bus, and again after a kill', async () => {
    const here = await openFolder()
    const up = startUp(here, { args: ['--agents', 'agent.yaml', '--partitions', '4'] })
    await up.untilReady()
    const runGuard = () =>
      startUp(here, { command: ['guard', 'run', 'guard.mjs', '--mode', 'enforce'] })
    const [agent] = loadAgents(join(here.folder, 'agent.yaml')).values()
    const dataFolder = join(here.folder, '.weir')
    const bus = await openBusBeside(
      readSettings({ dataFolder }, {}),
      createLog({ level: 'silent' }),
    )
    const finished = async () => {
      const found: Message[] = []
      for (const { partition } of await bus.ends('weir.activity'))
        for (const { value } of await bus.read({
          topic: 'weir.activity',
          partition,
          from: 0,
          limit: 1_000,
        }))
          found.push(decode(value as Uint8Array))
      return found.filter(({ type }) => type === 'turn-finished')
    }
    const ask = (messageId: string) =>
      bus.append([
        toRecord({
          topic: 'weir.client-messages',
          partition: partitionOf('c', 4),
          message: userMessage(agent as Agent, { conversation: 'c', messageId, text: 'go' }),
        }),
      ])
    try {
      const first = runGuard()
      await first.untilReady()
      expect(JSON.parse((await first.probe('/readyz')).text)).toMatchObject({
        ready: true,
        stages: {
          'guard.no-removal': { joined: true, partitions: { '0': 'caught up', '3': 'caught up' } },
        },
      })
      await ask('one')
      await until(async () => (await finished()).length === 1)
      expect(await starts(here)).toEqual([])
      const metrics = await first.probe('/metrics')
      expect(metricOf(metrics, 'weir_guard_rounds_total{guard="no-removal"}')).toBe(1)
      expect(
        metricOf(
          metrics,
          'weir_guard_verdicts_total{guard="no-removal",mode="enforce",verdict="deny"}',
        ),
      ).toBe(1)
      expect(metricOf(metrics, 'weir_partitions_assigned{stage="guard.no-removal"}')).toBe(4)

      first.signal('SIGKILL')
      await first.ended
      await ask('two') // it waits for a guard that does not run
      const second = runGuard()
      await until(async () => (await finished()).length === 2)
      expect(await starts(here)).toEqual([])
      const listed = JSON.parse((await here.run(['guard', 'list', '--json'])).out)
      expect(listed).toMatchObject({ mode: 'enforce', rounds: 2, denied: 2, late: 0 })
      const answers = (await bus.ends('weir.guard-verdicts.no-removal')).reduce(
        (sum, { end }) => sum + end,
        0,
      )
      expect(answers).toBe(2)
      await here.run(['guard', 'mode', 'no-removal', 'shadow'])
      await here.run(['guard', 'remove', 'no-removal'])
      const ready = async () => JSON.parse((await second.probe('/readyz')).text)
      await until(async () => 'notes' in (await ready()))
      expect(await ready()).toMatchObject({
        ready: true,
        notes: ['guard.no-removal: it is removed: no further call waits for it'],
      })
      up.signal('SIGTERM')
      expect((await up.ended).code).toBe(0)
      await until(async () => !(await ready()).ready)
      expect((await ready()).why).toEqual([
        'guard.no-removal: no process writes .weir: answers wait',
      ])
      second.signal('SIGTERM')
      const { code, ...ended } = await second.ended
      expect(code).toBe(0)
      expect(JSON.stringify(ended)).toContain('the guard is now 1: shadow for exec')
      expect(JSON.stringify(ended)).toContain('it is removed: no further call waits for it')
    } finally {
      await bus.close()
    }
  })

  it('registers a guard that runs elsewhere, once, and refuses another under its name', async () => {
    const { run } = await openFolder()
    await run([...ask, 'the first run makes the topics'])
    const register = (...args: string[]) =>
      run(['guard', 'register', 'remote', '--version', '1', '--deadline-ms', '500', ...args])
    const tools = ['--tools', 'exec=enforce', '--tools', 'mail_*']
    const first = await register(...tools)
    expect(first).toMatchObject({
      code: 0,
      errors: expect.stringContaining('a guard in another language needs Kafka'),
    })
    expect(first.out).toBe(
      'remote enforces for exec\nremote is a shadow for mail_*\nit reads weir.rounds-cleared as the group weir.guard.remote, and writes weir.guard-verdicts.remote\n',
    )
    expect(await register('--tools', 'exec', '--tools', 'mail_*')).toMatchObject({
      code: 0,
      out: first.out,
    })
    const settings = (await run(['tail', 'policies', '--limit', '9'])).out.trim().split('\n')
    const registrations = settings
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === 'guard-registration')
    expect(registrations).toMatchObject([{ key: 'guard:remote' }])
    expect((await run(['tail', 'guard-verdicts.remote'])).code).toBe(0)
    const other = await register('--tools', '*')
    expect(other.code).toBe(2)
    expect(other.errors).toContain(
      'there is a guard remote already, and it judges exec, mail_*, this judges *',
    )
    for (const mistyped of ['x=maybe', 'pay=Enforce', 'deploy = enforce', 'pay=']) {
      const refused = await register('--tools', mistyped, '--replace')
      expect(refused).toMatchObject({ code: 2, out: '' })
      expect(refused.errors).toMatch(
        /the mode after = must be enforce or shadow|names have no blanks and no =/,
      )
    }
    expect((await register(...tools, '--deadline-ms', 'soon')).errors).toContain(
      "--deadline-ms is 'soon'",
    )
    expect((await register(...tools, '--deadline-ms', '0', '--replace')).errors).toContain(
      'its deadline is 0 ms',
    )
    expect((await run(['guard', 'list', '--json'])).out).toContain('"mode":"mixed"')
    expect((await run(['doctor'])).out).toMatch(
      /^warning +guards +calls wait for remote \(mixed\), and no process runs it now: run it/m,
    )
    const vetoed = await run([...ask, 'nobody answers for it'])
    expect(vetoed.errors).toContain(
      'exec denied before execution: vetoed by guard remote: guard.silent',
    )
  })

  it('runs shipped guards by name, with options, and reports a name that is also a file', async () => {
    const here = await openFolder()
    const { run, folder } = here
    await writeFile(
      join(folder, 'shell.json'),
      JSON.stringify({ tools: ['exec'], allowedFolders: ['/nowhere'], workingFolder: '/nowhere' }),
    )
    const enforced = await run([
      ...ask,
      '--guard',
      'shell=shell.json',
      '--guard-mode',
      'enforce',
      'rm x is fine there',
    ])
    expect(enforced).toMatchObject({ code: 0 })
    expect(await starts(here)).toHaveLength(1)
    await writeFile(join(folder, 'spend.json'), '{')
    expect((await run([...ask, '--guard', 'spend=spend.json', 'go'])).errors).toContain(
      'the file of options spend.json is not JSON',
    )
    expect((await run([...ask, '--guard', 'spend', 'go'])).errors).toContain(
      "the spend guard's tools is missing",
    )
    const typo = await run([...ask, '--guard', 'shel', 'go'])
    expect(typo).toMatchObject({ code: 2, errors: expect.stringContaining('did you mean shell?') })
    const stage = await run(['guard', 'run', 'approval'])
    expect(stage).toMatchObject({
      code: 2,
      errors: expect.stringContaining(
        'approval is a stage, not a guard to run: set its rules with',
      ),
    })
    await writeFile(join(folder, 'shell'), 'export default {}')
    expect((await run([...ask, '--guard', 'shell', 'go'])).errors).toContain(
      'shell is a file here and also a guard that ships with Weir',
    )
  })

  it('makes no log in a folder that was mistyped', async () => {
    const { run, folder } = await openFolder()
    for (const command of [
      ['guard', 'mode', 'spend', 'shadow'],
      ['guard', 'remove', 'spend'],
      ['allow', 'abc'],
      ['deny', 'abc'],
    ]) {
      const ended = await run([...command, '--data-folder', 'typo'])
      expect(ended).toMatchObject({
        code: 2,
        errors: expect.stringContaining('there is no log at typo/weir.db'),
      })
    }
    expect(existsSync(join(folder, 'typo'))).toBe(false)
  })

  it('accepts no decision without a name, and points to the help of the command', async () => {
    const { run } = await openFolder()
    for (const by of ['', '  ']) {
      const ended = await run(['allow', 'abc', '--by', by])
      expect(ended).toMatchObject({ code: 2, errors: expect.stringContaining('It is empty.') })
      expect(ended.errors).toContain('(weir allow --help lists all options)')
    }
    expect((await run(['guard', 'mode', 'spend', 'no-mode'])).errors).toContain(
      '(weir guard mode --help lists all options)',
    )
    expect((await run(['nothing'])).errors).toContain('(weir --help lists all options)')
  })

  it('fails with an error if a guard ends the process', async () => {
    const { run, folder } = await openFolder()
    await writeFile(
      join(folder, 'exits.mjs'),
      guardFile.replace(
        'judge: (state, { calls }) => ({',
        'judge: (state, { calls }) => process.exit(0) ?? ({',
      ),
    )
    const ended = await run([...ask, '--guard', 'exits.mjs', 'go'])
    expect(ended).toMatchObject({
      code: 1,
      out: '',
      errors: expect.stringContaining('the process ended before the command was done'),
    })
  })

  it('reports mistakes in a guard, a name and a bus', async () => {
    const { run, folder } = await openFolder()
    await writeFile(
      join(folder, 'bad.mjs'),
      'export default { name: "Bad!", version: "1", tools: ["*"], deadlineMs: 5, onTimeout: "deny", judge() {} }',
    )
    const bad = await run([...ask, '--guard', 'bad.mjs', 'go'])
    expect(bad.code).not.toBe(0)
    expect(bad.errors).toContain('bad.mjs: its name is "Bad!"')
    const unknown = await run([...ask, '--guard', 'guard.mjs', 'go']).then(() =>
      run(['guard', 'mode', 'nobody', 'enforce']),
    )
    expect(unknown.code).toBe(2)
    expect(unknown.errors).toContain('unknown guard "nobody"; registered guards: no-removal')
    await writeFile(join(folder, 'second.mjs'), guardFile.replace("version: '1'", "version: '2'"))
    const taken = await run([...ask, '--guard', 'second.mjs', 'go'])
    expect(taken.errors).toContain(
      'there is a guard no-removal already, and it is version 1, this is 2',
    )
    expect((await run(['guard', 'run', 'guard.mjs'])).errors).toContain(
      'and no process writes .weir: start weir up first',
    )
  })
})
