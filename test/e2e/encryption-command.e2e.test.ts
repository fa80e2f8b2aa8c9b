// Encrypted records of tenants from a shell, on the embedded bus: `weir keys tenant` and the setting
// `encryptionKeys`.

import { readdirSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { call, resultsOf, says, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'
import { startUp } from '../support/weir-up.ts'

let commands: CommandFolder
const environment = { WEIR_ENCRYPTION_KEYS: 'keys.json' }

beforeEach(async () => {
  commands = await openCommandFolder((model) =>
    resultsOf(model).length === 0
      ? says(text('Looking at blue-heron.'), call('look', { at: 'grey-heron' }))
      : says(text('Saw white-heron.')),
  )
  await writeFile(
    join(commands.folder, 'birds.yaml'),
    `name: birds
system: You are under test.
fallback: Sorry, not now.
model: { provider: anthropic, name: scripted, baseUrl: '${commands.server.url}', maxOutputTokens: 1000 }
tools:
  - { name: look, description: looks, schema: { type: object }, cwd: ., command: [echo, black-heron] }
`,
  )
})

afterEach(() => commands.close())

function ask(tenant: string, options: { environment?: Record<string, string> } = {}) {
  const place = ['--tenant', tenant, '--conversation', 'c']
  return commands.run(['ask', '--agent', 'birds.yaml', ...place, 'Where is red-heron?'], options)
}

/** All bytes of the log's files. */
function logBytes(): string {
  const folder = join(commands.folder, '.weir')
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => readFileSync(join(folder, name), 'latin1'))
    .join('')
}

describe('the log of a tenant with a key', () => {
  it('has no text of its turns, and commands with the key read and replay it', async () => {
    const { run } = commands
    expect(await run(['keys', 'tenant', 'acme', '--file', 'keys.json'])).toMatchObject({ code: 0 })
    expect(await ask('acme', { environment })).toMatchObject({
      code: 0,
      out: expect.stringContaining('white-heron'),
    })
    expect(logBytes().includes('heron')).toBe(false)

    const page = (await run(['inspect', 'acme:c'], { environment })).out
    for (const bird of ['red', 'grey', 'black', 'white']) expect(page).toContain(`${bird}-heron`)
    expect(await run(['replay'], { environment })).toMatchObject({ code: 0 })
    expect(await ask('acme', { environment })).toMatchObject({ code: 0 })

    expect(await ask('other', { environment })).toMatchObject({ code: 0 })
    expect(logBytes().includes('red-heron')).toBe(true)
  })

  it('is not continued and not shown without the key', async () => {
    const { run, server } = commands
    await run(['keys', 'tenant', 'acme', '--file', 'keys.json'])
    await ask('acme', { environment })
    const shown = await run(['inspect', 'acme:c'])
    expect(shown.out).toContain('encrypted without the key of its tenant')
    expect(shown.out).not.toContain('heron')
    expect(shown.code).toBe(1)
    const lacking =
      /\d+ records of the tenant acme cannot be read: this command has no key for acme/
    expect(shown.errors).toMatch(lacking)

    await ask('other', { environment })
    const listed = await run(['conversations'])
    expect(listed).toMatchObject({ code: 1, errors: expect.stringMatching(lacking) })
    expect(listed.out).toContain('other:c')
    const reported = await run(['report', '--output', 'all.html'])
    expect(reported).toMatchObject({ code: 1, errors: expect.stringMatching(lacking) })
    const otherKeys = ['keys', 'tenant', 'acme', '--file', 'others.json']
    await run(otherKeys)
    const rotated = await run(['inspect', 'acme:c', '--encryption-keys', 'others.json'])
    expect(rotated.errors).toContain('the keys for acme lack')

    const requests = server.requests.length
    const refused = await ask('acme')
    expect(refused.code).not.toBe(0)
    expect(refused.errors).toMatch(
      /^weir: .* which this process does not have: give it the keys of all tenants .*\n$/,
    )
    expect(server.requests).toHaveLength(requests)
    expect(await ask('acme', { environment })).toMatchObject({ code: 0 })
  })

  it('is unreadable for good once the key is deleted, and other tenants go on', async () => {
    const { run } = commands
    await run(['keys', 'tenant', 'acme', '--file', 'keys.json'])
    await ask('acme', { environment })
    await ask('other', { environment })
    const unknown = await run(['keys', 'tenant', 'nobody', '--file', 'keys.json', '--delete'])
    expect(unknown).toMatchObject({ code: 2 })
    expect(unknown.errors).toContain('keys.json has no keys of the tenant nobody')
    const deletion = await run(['keys', 'tenant', 'acme', '--file', 'keys.json', '--delete'])
    expect(deletion.out).toContain('deleted 1 key of acme')

    const refused = await ask('acme', { environment })
    expect(refused.code).not.toBe(0)
    expect(refused.errors).toContain('the keys of the tenant acme were deleted')
    expect(await ask('other', { environment })).toMatchObject({ code: 0 })
    const shown = await run(['inspect', 'acme:c'], { environment })
    expect(shown.out).not.toContain('heron')
    expect(shown).toMatchObject({ code: 0, errors: expect.stringContaining('content is gone') })
    const listed = await run(['conversations'], { environment })
    expect(listed).toMatchObject({ code: 0, errors: expect.stringContaining('content is gone') })
    expect(listed.out).toContain('other:c')
    expect((await run(['inspect', 'other:c'], { environment })).out).toContain('white-heron')
  })

  it('is written by each process with the key next to weir up, and by no client without it', async () => {
    const { run, server } = commands
    await run(['keys', 'tenant', 'acme', '--file', 'keys.json'])
    const up = startUp(commands, { args: ['--agents', 'birds.yaml'], environment })
    await up.untilReady()
    const requests = server.requests.length
    const refused = await ask('acme')
    expect(refused.code).not.toBe(0)
    expect(refused.errors).toContain('the records of the tenant acme are encrypted')
    expect(server.requests).toHaveLength(requests)

    expect(await ask('acme', { environment })).toMatchObject({
      code: 0,
      out: expect.stringContaining('white-heron'),
    })
    up.signal('SIGTERM')
    await up.ended
    expect(logBytes().includes('heron')).toBe(false)
  })

  it('shows a conversation without a word about the keys of other tenants', async () => {
    const { run } = commands
    for (const tenant of ['acme', 'zoo'])
      await run(['keys', 'tenant', tenant, '--file', 'keys.json'])
    await ask('acme', { environment })
    await ask('zoo', { environment })
    const { tenants } = JSON.parse(await readFile(join(commands.folder, 'keys.json'), 'utf8'))
    const own = { version: 1, tenants: { acme: tenants.acme } }
    await writeFile(join(commands.folder, 'acme.json'), JSON.stringify(own), { mode: 0o600 })
    const shown = await run(['inspect', 'acme:c', '--encryption-keys', 'acme.json'])
    expect(shown).toMatchObject({ code: 0, errors: '' })
    expect(shown.out).toContain('red-heron')
  })
})
