// A model server that repeats the key of its client, before the proxy with the real stages and a log on
// disk.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type Fronts, frontsPlace, openFronts } from '../../../../../client/guard/log/fronts.ts'
import { type Proxied, proxied } from './proxied.ts'
import { apiCases } from './requests.ts'
import { sendJson } from './scripted-upstream.ts'

let proxy: Proxied
let fronts: Fronts
let folder: string

afterEach(async () => {
  await proxy.close()
  await fronts.close()
  rmSync(folder, { recursive: true })
})

const key = 'sk-live-4f9a8b7c6d5e'
const command = `echo ${key}`
const inHeader = { authorization: `Bearer ${key}` }

/** The answer of an API case with the key in its text, its call id and its arguments. */
function withKey(answer: unknown): unknown {
  const text = JSON.stringify(answer)
    .replace('"again"', `"The key is ${key}."`)
    .replace('"call_2"', `"call_${key}"`)
    .replace('"input":{}', `"input":${JSON.stringify({ cmd: command })}`)
    .replace('"arguments":"{}"', `"arguments":${JSON.stringify(JSON.stringify({ cmd: command }))}`)
  return JSON.parse(text)
}

async function opened(answer: unknown, hasVeto: boolean): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'masked-'))
  const options = { agent: 'main', dataFolder: folder }
  fronts = await openFronts(frontsPlace(options), { log: pino({ level: 'silent' }) })
  const guard = fronts.front({ agent: 'main', mode: hasVeto ? 'blocking' : 'observing' })
  const veto = hasVeto ? { coversSubscriptions: false } : undefined
  proxy = await proxied(guard, (_, response) => sendJson(response, answer), '', veto)
}

/** All bytes of the log, also of pages that are no more in use. */
function logged(): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}

describe.each(apiCases)('the log of the proxy with $name', ({ path, request, answer }) => {
  it.each([
    ['a header', '', inHeader],
    ['the query', `?key=${key}`, {}],
  ])('has no key of a client that a model server repeats, from %s', async (_, query, headers) => {
    await opened(withKey(answer), false)
    const result = request.replace('"no"', `"no ${key}"`).replace('Error: no', `Error: no ${key}`)
    const sent = { method: 'POST', body: result, headers }
    const answered = await fetch(`${proxy.url}${path}${query}`, sent)
    expect(await answered.json()).toEqual(withKey(answer))
    await proxy.settled()
    expect(logged()).toContain('echo [key]')
    expect(logged()).toContain('no [key]')
    expect(logged()).not.toContain(key)
  })

  it('has no such key under a veto, and the client gets the call of the model', async () => {
    await opened(withKey(answer), true)
    const sent = { method: 'POST', body: request, headers: inHeader }
    const answered = await fetch(`${proxy.url}${path}`, sent)
    const text = await answered.text()
    expect([answered.status, text]).toEqual([200, expect.stringContaining(`call_${key}`)])
    expect(text).toContain(command)
    await proxy.settled()
    expect(logged()).toContain('echo [key]')
    expect(logged()).not.toContain(key)
  })
})
