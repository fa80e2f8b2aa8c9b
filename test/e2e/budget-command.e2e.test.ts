// `weir budget` from a shell, next to turns on the embedded bus.

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { call, resultsOf, says, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder | undefined

afterEach(async () => {
  await commands?.close()
  commands = undefined
})

/** A model that calls `look` once and then answers. */
async function openFolder(): Promise<CommandFolder> {
  commands = await openCommandFolder((model) =>
    resultsOf(model).length === 0 ? says(call('look', {})) : says(text('All done.')),
  )
  await writeFile(
    join(commands.folder, 'bank.yaml'),
    `name: bank
system: You are under test.
fallback: Sorry, not now.
model: { provider: anthropic, name: scripted, baseUrl: '${commands.server.url}', maxOutputTokens: 1000 }
tools:
  - { name: look, description: looks, schema: { type: object }, cwd: ., command: [echo, seen] }
`,
  )
  return commands
}

const ask = (tenant: string, conversation: string) => [
  ...['ask', '--agent', 'bank.yaml', '--tenant', tenant, '--conversation', conversation, 'go'],
]

describe('weir budget', () => {
  it('warns about a tenant and an agent that nothing in the log has', async () => {
    const { run } = await openFolder()
    expect(await run(ask('acme', 'c'))).toMatchObject({ code: 0 })
    const warned = async (...subject: string[]) =>
      (await run(['budget', 'set', ...subject, '--window', 'day', '--tokens', '9'])).errors
    expect(await warned('--tenant', 'acne')).toBe(
      'weir: warning: no conversation of a tenant acne is in the log; did you mean acme?\n',
    )
    expect(await warned('--tenant', 'acme', '--agent', 'bnak')).toContain('The log has bank')
    expect(await warned('--tenant', 'acme', '--agent', 'bank')).toBe('')
    const stopped = await run(['stop', '--tenant', 'acne', '--reason', 'an unpaid bill'])
    expect(stopped).toMatchObject({ code: 0, errors: expect.stringContaining('mean acme?') })
  })

  it('ends a turn without a model request once its tokens are used, for its tenant only', async () => {
    const { run, server } = await openFolder()
    expect(await run(ask('acme', 'before'))).toMatchObject({ code: 0 })
    expect((await run(['tail', 'budgets', '--from', 'beginning'])).out).toBe('')
    const set = await run(['budget', 'set', '--tenant', 'acme', '--window', 'day', '--tokens', '1'])
    expect(set).toMatchObject({ code: 0, errors: '' })
    expect(set.out).not.toContain('replaces')
    const again = await run([
      'budget',
      'set',
      '--tenant',
      'acme',
      '--window',
      'day',
      '--tokens',
      '1',
    ])
    expect(again.out).toContain('it replaces: no model request from 1 tokens in a day (UTC)')
    expect(server.requests).toHaveLength(2)

    const first = await run(ask('acme', 'c'))
    expect(first.code).toBe(3)
    expect(first.out).toContain('Sorry, not now.')
    expect(first.errors).toContain('the budget acme/tenant/day/tokens is reached')
    expect(server.requests).toHaveLength(3)
    expect(await run(ask('other', 'c'))).toMatchObject({ code: 0 })
    expect(server.requests).toHaveLength(5)

    const [turn] = JSON.parse((await run(['inspect', 'acme:c', '--json'])).out).turns
    expect(turn.end).toMatchObject({ outcome: 'failed', class: 'budget' })
    const [listed] = (await run(['budget', 'list', '--json'])).out.trim().split('\n')
    expect(JSON.parse(listed ?? '')).toMatchObject({
      id: 'acme/tenant/day/tokens',
      hard: 1,
      use: [{ tenant: 'acme', held: 0, used: expect.any(Number) }],
    })
    expect((await run(['conversations', '--where', 'tenant=acme'])).out).not.toMatch(/other:c/)

    const remove = () => run(['budget', 'remove', 'acme/tenant/day/tokens'])
    expect([(await remove()).code, (await remove()).code]).toEqual([0, 2])
    expect((await run(['release', 'agent:nobody'])).code).toBe(2)
    await run(['budget', 'set', '--tenant', 'acme', '--window', 'turn', '--tokens', '90000'])
    expect(await run(ask('acme', 'c'))).toMatchObject({ code: 0 })
    expect((await run(['budget', 'list'])).out).toMatch(
      /^ {4}acme {2}acme:c turn 2 {2}\d+ tokens used$/m,
    )
    expect((await run(['replay'])).code).toBe(0)
  })

  it('refuses a model without a price until its prices are set, and then counts money', async () => {
    const { run, folder, server } = await openFolder()
    await run(ask('acme', 'before'))
    await run([
      ...['budget', 'set', '--tenant', '*', '--agent', '*', '--window', 'month'],
      ...['--money', '2USD', '--soft-money', '0.000001USD'],
    ])
    const refused = await run(ask('acme', 'c'))
    expect(refused.errors).toContain('the price of the model "scripted" is unknown')
    expect(server.requests).toHaveLength(2)

    await writeFile(
      join(folder, 'prices.json'),
      JSON.stringify({ 'anthropic/scripted': { input: 3, output: 15 } }),
    )
    expect(await run(['budget', 'prices', 'prices.json'])).toMatchObject({ code: 0 })
    const priced = await run(ask('acme', 'c'))
    expect(priced).toMatchObject({ code: 0 })
    expect(priced.errors).toContain('the soft budget */agent:*/month/usd is reached')
    expect((await run(['budget', 'list'])).out).toMatch(
      /^\*\/agent:\*\/month\/usd {2}soft 0\.000001 USD, hard 2\.0000 USD, set by .*\n {4}acme {2}bank {2}\d{4}-\d\d {2}0\.\d{4} USD used\n$/,
    )
    const inspected = JSON.parse((await run(['inspect', 'acme:c', '--json'])).out)
    expect(inspected.money).toMatchObject([{ number: 2, requests: 2, unpriced: 0 }])
    expect(inspected.money[0].usd).toBeGreaterThan(0)
    expect((await run(['inspect', 'acme:c'])).out).toMatch(
      /Money of turn 2: 0\.\d{4} USD \(operator/,
    )
    const listed = (await run(['conversations', '--json'])).out.trim().split('\n')
    const moneyIn = (id: string) =>
      listed.map((line) => JSON.parse(line)).find((one) => one.conversation === id)?.money
    expect(moneyIn('acme:c')).toMatchObject({ usd: inspected.money[0].usd, requests: 2 })
    expect(moneyIn('acme:before')).toBeNull()
    expect((await run(['conversations'])).out).toMatch(/tokens, 0\.\d{4} USD, bank/)
    await run(['report', '--conversation', 'acme:c', '--output', 'page.html'])
    const page = readFileSync(join(folder, 'page.html'), 'utf8')
    expect(page).toContain(`"usd":${inspected.money[0].usd}`)
    const settled = (await run(['tail', 'budgets', '--from', 'beginning'])).out
    expect(settled).toMatch(/"prices":"operator [0-9a-f]{12}"/)
  })
})
