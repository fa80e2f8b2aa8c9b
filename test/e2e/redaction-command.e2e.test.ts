// The rules of an agent's `redact` from a shell: models and tools see the values, readers do not.

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { call, resultsOf, says, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder

const agent = (redact: string) => `name: desk
system: You are under test.
fallback: Sorry, not now.
model: { provider: anthropic, name: scripted, baseUrl: '${commands.server.url}', maxOutputTokens: 1000 }
redact:
${redact}
tools:
  - { name: login, description: logs in, schema: { type: object }, cwd: ., command: [cat] }
`

const rules = `  - email
  - arguments.password
  - { name: order, pattern: 'ORD-\\d{6}' }
`
const question = 'I am ann@mail.example, where is ORD-123456?'
const secrets = ['ann@mail.example', 'ORD-123456', 'hunter-22']

beforeEach(async () => {
  commands = await openCommandFolder((model) =>
    resultsOf(model).length === 0
      ? says(
          text('Looking for ann@mail.example.'),
          call('login', { user: 'ann', password: 'hunter-22', order: 'ORD-123456' }),
        )
      : says(text('ann@mail.example has ORD-123456.')),
  )
})

afterEach(() => commands.close())

async function asked(): Promise<{ code: number | null; out: string }> {
  await writeFile(join(commands.folder, 'desk.yaml'), agent(rules))
  return commands.run(['ask', '--agent', 'desk.yaml', '--conversation', 'c', question])
}

/** The secrets in the output of a command. */
async function seenBy(...args: string[]): Promise<string[]> {
  const { code, out, errors } = await commands.run(args)
  if (code !== 0) throw new Error(errors)
  return secrets.filter((secret) => out.includes(secret))
}

describe('the values that the rules of an agent name', () => {
  it('reach the model, the tool and the user', async () => {
    const answer = await asked()
    expect(answer).toMatchObject({
      code: 0,
      out: expect.stringContaining('ann@mail.example has ORD-123456.'),
    })
    const last = JSON.stringify(commands.server.requests.at(-1))
    for (const secret of secrets) expect(last).toContain(secret)
  })

  it('are hidden in each command that shows the log, but for the flag --unredacted', async () => {
    await asked()
    const shows = [
      ['inspect', 'c', '--full'],
      ['tail', 'rounds-cleared'],
      ['tail', 'model-deltas'],
      ['tail', 'history'],
    ]
    for (const command of shows) {
      expect([command, await seenBy(...command)]).toEqual([command, []])
      expect((await seenBy(...command, '--unredacted')).length).toBeGreaterThan(0)
    }
    expect(await seenBy('inspect', 'c', '--full', '--unredacted')).toEqual(secrets)
    expect((await commands.run(['inspect', 'c'])).out).toContain('I am [email], where is [order]?')
    expect(await seenBy('conversations')).toEqual([])
    expect(await seenBy('conversations', '--unredacted')).toContain('ann@mail.example')
  })

  it('are hidden in traces with content, unless the flag is given', async () => {
    await asked()
    const bodies: string[] = []
    const backend = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      bodies.push(Buffer.concat(chunks).toString())
      response.end('{}')
    })
    await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
    const endpoint = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
    const traces = ['traces', '--endpoint', endpoint, '--once', '--content']
    expect(await commands.run(traces)).toMatchObject({ code: 0 })
    const sent = bodies.splice(0).join('')
    expect(sent).toContain('[password]')
    expect(secrets.filter((secret) => sent.includes(secret))).toEqual([])
    expect(await commands.run([...traces, '--unredacted'])).toMatchObject({ code: 0 })
    expect(bodies.join('')).toContain('ann@mail.example')
    backend.closeAllConnections()
    backend.close()
  })

  it('are not in the results of activity, with any option', async () => {
    await asked()
    const tail = ['tail', 'activity', '--type', 'call-finished', '--unredacted']
    expect(await seenBy(...tail)).toEqual([])
    expect((await commands.run(tail)).out).toContain('[password]')
  })

  it('are hidden in pages and bundles, and a bundle without them has none to show', async () => {
    await asked()
    await commands.run(['report', '--output', 'page.html'])
    await commands.run(['report', '--output', 'whole.html', '--unredacted'])
    const page = (name: string) => readFileSync(join(commands.folder, name), 'utf8')
    expect(secrets.filter((secret) => page('page.html').includes(secret))).toEqual([])
    expect(secrets.filter((secret) => page('whole.html').includes(secret))).toEqual(secrets)

    const exported = await commands.run(['export', '-o', 'for-others.weir'])
    expect(exported.out).toContain('; redacted')
    expect(await seenBy('inspect', 'for-others.weir', 'c', '--full', '--unredacted')).toEqual([])
    await commands.run(['export', '-o', 'own.weir', '--unredacted'])
    expect(await seenBy('inspect', 'own.weir', 'c', '--full', '--unredacted')).toEqual(secrets)
    expect(await commands.run(['replay', 'own.weir'])).toMatchObject({ code: 0 })
    expect(await commands.run(['replay'])).toMatchObject({ code: 0 })
  })
})

describe('rules that cannot be used', () => {
  it('are named at the start, all of them', async () => {
    await writeFile(
      join(commands.folder, 'desk.yaml'),
      agent(`  - emails
  - arguments
  - { name: all, pattern: '.+' }
  - { name: ahead, pattern: '(?=x)' }
  - { name: open, pattern: '[' }
  - { name: card, pattern: 'x' }
  - { name: twice, pattern: 'x' }
  - { name: twice, pattern: 'y' }
`),
    )
    const { code, errors } = await commands.run(['ask', '--agent', 'desk.yaml', 'Hello.'])
    expect(code).toBe(2)
    for (const fault of [
      'redact[0]: is "emails"; did you mean email?',
      'a path such as arguments.password',
      'matches nearly every text',
      'cannot be matched in linear time',
      'is no regular expression',
      'a class of values; give it another name',
      'the name of another rule',
    ])
      expect(errors).toContain(fault)
  })
})
