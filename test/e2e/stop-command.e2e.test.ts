// `weir stop` and `weir release` from a shell, next to a turn whose tool runs on the embedded bus.

import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { until } from '../support/inbox.ts'
import { call, resultsOf, says, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder | undefined

afterEach(async () => {
  await commands?.close()
  commands = undefined
})

/** A model that calls `wait` once and then answers. The tool waits for a file of the test. */
async function openFolder(): Promise<CommandFolder> {
  commands = await openCommandFolder((model) =>
    resultsOf(model).length === 0 ? says(call('wait', {})) : says(text('All done.')),
  )
  const waits = 'touch started; while [ ! -e go ]; do sleep 0.05; done; touch ended; echo waited'
  await writeFile(
    join(commands.folder, 'bank.yaml'),
    `name: bank
system: You are under test.
fallback: Sorry, not now.
model: { provider: anthropic, name: scripted, baseUrl: '${commands.server.url}', maxOutputTokens: 1000 }
tools:
  - { name: wait, description: waits, schema: { type: object }, cwd: ., command: [sh, -c, ${JSON.stringify(waits)}] }
`,
  )
  return commands
}

const ask = (conversation: string) => [
  ...['ask', '--agent', 'bank.yaml', '--conversation', conversation, 'go'],
]

describe('weir stop', () => {
  it('at drain lets the running tool end, starts no model request, and a release lets a new question run', async () => {
    const { run, start, folder, server } = await openFolder()
    const asking = start(ask('c'))
    await until(async () => existsSync(join(folder, 'started')))
    const stopped = await run(['stop', '--agent', 'bank', '--reason', 'wrong transfers'])
    expect(stopped).toMatchObject({ code: 0, errors: '' })
    expect((await run(['stops'])).out).toMatch(/^agent:bank {2}drain {2}.*: wrong transfers\n$/)
    await writeFile(join(folder, 'go'), '')

    const { code, out, errors } = await asking.ended
    expect(code).not.toBe(0)
    expect(out).toContain('Sorry, not now.')
    expect(errors).toContain('an operator stopped agent "bank": wrong transfers')
    expect(existsSync(join(folder, 'ended'))).toBe(true)
    expect(server.requests).toHaveLength(1)

    const refused = await run(ask('d'))
    expect(refused.errors).toContain('an operator stopped agent "bank": wrong transfers')
    expect(server.requests).toHaveLength(1)

    const [turn] = JSON.parse((await run(['inspect', 'c', '--json'])).out).turns
    expect(turn.end).toMatchObject({ outcome: 'failed', class: 'stopped' })
    expect(turn.rounds[0].calls[0].result).toMatchObject({ status: 'ok' })
    expect((await run(['inspect', 'c'])).out).toContain(
      'an operator stopped agent "bank": wrong transfers',
    )
    expect((await run(['conversations', '--where', 'failureClass=stopped'])).out).toMatch(/\bc\b/)

    await run(['release', 'agent:bank'])
    expect(await run(ask('d'))).toMatchObject({ code: 0 })
    expect((await run(['replay'])).code).toBe(0)
  })

  it('at now stops the running tool, ends the turn, and leaves nothing to run on', async () => {
    const { run, start, folder, server } = await openFolder()
    const asking = start(ask('c'))
    await until(async () => existsSync(join(folder, 'started')))
    await run(['stop', '--all', '--now', '--reason', 'wrong transfers'])
    const { code, errors } = await asking.ended
    expect(code).not.toBe(0)
    expect(errors).toContain('an operator stopped all agents: wrong transfers')
    expect(existsSync(join(folder, 'ended'))).toBe(false)
    expect(server.requests).toHaveLength(1)
    expect((await run(['replay'])).code).toBe(0)
  })

  it('of a tool refuses its calls, and the turn goes on to its answer', async () => {
    const { run, folder, server } = await openFolder()
    await writeFile(join(folder, 'go'), '')
    expect((await run(ask('before'))).code).toBe(0) // makes the log
    await run(['stop', '--tool', 'wai*', '--reason', 'it hangs'])
    const { code, out } = await run(ask('c'))
    expect(code).toBe(0)
    expect(out).toContain('All done.')
    expect(resultsOf(server.requests.at(-1))[0]).toContain(
      'an operator stopped tool "wai*": it hangs',
    )
  })
})
