// Approval from a shell, on the embedded bus: rules, the list, a decision, and the question on a
// terminal.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { call, resultsOf, says, script, text } from '../support/script.ts'
import { type CommandFolder, onTerminals, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder | undefined

afterEach(async () => {
  await commands?.close()
  commands = undefined
})

async function openFolder(): Promise<CommandFolder> {
  const acts = () => [says(call('act', { env: 'prod' })), says(text('Done.'))]
  commands = await openCommandFolder(script(...acts(), ...acts()))
  const rules = [
    { name: 'production', tools: ['act'], pattern: { path: 'env', matches: '^prod$' } },
  ]
  await writeFile(join(commands.folder, 'rules.json'), JSON.stringify({ rules, waitMs: 3_600_000 }))
  return commands
}

const ask = ['ask', '--agent', 'agent.yaml', '--conversation', 'c']
const starts = async ({ folder }: CommandFolder) =>
  (await readFile(join(folder, 'starts'), 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '')

describe('weir approvals, allow and deny', () => {
  it('set rules, list waiting calls, and decide them, also while no stage runs', async () => {
    const here = await openFolder()
    const { run, start } = here
    const set = await run(['approvals', 'rules', 'rules.json'])
    expect(set).toMatchObject({
      code: 0,
      out: expect.stringContaining(
        '1 rule for act: from the next model response, calls wait up to 1 h',
      ),
    })
    expect(JSON.parse((await run(['approvals', 'rules'])).out)).toMatchObject({
      waitMs: 3_600_000,
      rules: [{ name: 'production' }],
    })
    expect(await run(['approvals'])).toMatchObject({
      code: 0,
      out: 'nothing waits for a decision\n',
    })

    const asking = start([...ask, 'go'])
    await asking.shows("act needs a person's approval (production):")
    await asking.shows('{"env":"prod"}')
    await asking.shows('weir allow ')
    const [waiting] = (await run(['approvals', '--json'])).out
      .split('\n')
      .map((line) => line && JSON.parse(line))
    expect(waiting).toMatchObject({
      name: 'act',
      arguments: { env: 'prod' },
      rawArguments: '{"env":"prod"}',
      conversation: 'c',
      rule: 'production',
    })
    const { id } = waiting
    expect((await run(['approvals'])).out).toMatch(
      new RegExp(`^${id}  act \\(production\\)\\n    \\{"env":"prod"\\}\\n    conversation c, `),
    )
    asking.child.kill('SIGKILL')
    await asking.ended

    expect(await run(['allow', id, '--by', 'ann'])).toMatchObject({
      code: 0,
      out: `Allowed: ${id}. act may run with exactly these arguments.\n`,
    })
    expect(await run(['deny', id, '--reason', 'no'])).toMatchObject({
      code: 4,
      out: expect.stringContaining(`Nothing was changed: ${id} was allowed by ann (claimed) at `),
    })
    expect(await run(['allow', '0000-0000-0000'])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('weir approvals lists'),
    })
    expect(await starts(here)).toEqual([])

    await run(['approvals', 'rules']) // changes nothing
    await run(['guard', 'remove', 'approval'])
    expect(await run([...ask, 'and then?'])).toMatchObject({ code: 0 })
    expect((await starts(here)).length).toBeGreaterThanOrEqual(1)
    expect((await run(['inspect', 'c'])).out).toMatch(
      new RegExp(`call 0: allowed by ann \\(claimed\\) after .* \\(production,\\s+${id}\\)`),
    )
  })

  it('decide from another terminal while a client waits', async () => {
    const here = await openFolder()
    const { run, start } = here
    await run(['approvals', 'rules', 'rules.json'])
    const asking = start([...ask, 'go'])
    await asking.shows("act needs a person's approval (production):")
    const { id } = JSON.parse((await run(['approvals', '--json'])).out)
    expect(await run(['allow', id, '--by', 'ann'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('Allowed'),
    })
    expect(await run(['deny', id])).toMatchObject({
      code: 4,
      out: expect.stringContaining('was allowed by ann'),
    })
    await asking.shows('act was allowed by ann')
    expect(await asking.ended).toMatchObject({ code: 0, out: 'Done.\n' })
    expect(await starts(here)).toHaveLength(1)
    const audited = (await run(['audit', '--by', 'ann', '--json'])).out
    expect(JSON.parse(audited)).toMatchObject({
      kind: 'approval',
      action: 'allow',
      identity: 'claimed',
      rawArguments: '{"env":"prod"}',
      id,
      followed: { status: 'ok' },
    })
    const checked = await run(['audit', '--verify'])
    expect(checked.code).toBe(3)
    const head = /^head (.+)$/m.exec(checked.out)?.[1] ?? ''
    expect(await run(['audit', '--expect', head])).toMatchObject({
      code: 0,
      out: expect.stringContaining('3 records: none is changed, missing or moved'),
    })
  })

  it('report a mistake in rules', async () => {
    const { run, folder } = await openFolder()
    await writeFile(
      join(folder, 'bad.json'),
      '{"rules": [{"name": "x", "tools": ["act"], "pattern": {"path": "a", "matches": "("}}]}',
    )
    expect(await run(['approvals', 'rules', 'bad.json'])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('its pattern cannot be used'),
    })
  })
})

onTerminals('at a terminal', () => {
  it('ask in weir chat, and accept the beginning of the id, or n with a reason', async () => {
    const here = await openFolder()
    const { run, startOnTerminal, server } = here
    await run(['approvals', 'rules', 'rules.json'])
    const { child, shows, ended } = startOnTerminal(
      ['chat', '--agent', 'agent.yaml', '--conversation', 'c'],
      { NO_COLOR: '1' },
    )
    await shows('> ')
    child.stdin.write('go\r')
    await shows('or n and why: ')
    child.stdin.write('n, not on a Friday\r')
    await shows('act was denied by')
    await shows('Done.')
    expect(resultsOf(server.requests[1])).toEqual([expect.stringContaining('not on a Friday')])
    await shows('> ')
    child.stdin.write('again\r')
    await shows('or n and why: ')
    const { id } = JSON.parse((await run(['approvals', '--json'])).out)
    child.stdin.write(`${id.slice(0, 4)}\r`)
    await shows('act was allowed by')
    await shows('Done.')
    await shows('> ')
    child.stdin.write('\u0004')
    expect(await ended).toMatchObject({ code: 0 })
    expect(await starts(here)).toHaveLength(1)
  })

  it('cancel the turn after Ctrl-C in the question', async () => {
    const here = await openFolder()
    await here.run(['approvals', 'rules', 'rules.json'])
    const { child, shows, ended } = here.startOnTerminal([...ask, 'go'], { NO_COLOR: '1' })
    await shows('or n and why: ')
    child.stdin.write('\u0003')
    await shows('cancelled: the client cancelled it')
    expect(await ended).toMatchObject({ code: 130 })
    expect(await starts(here)).toEqual([])
  })
})
