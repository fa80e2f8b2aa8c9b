// JSON that nests too deeply or has too many members, from a client and from a model server. It counts
// as a broken text.

import { afterEach, expect, it } from '@jest/globals'
import { limits } from '../../../../../shared/contract/limits.ts'
import { scriptedGuard } from '../../scripted-guard.ts'
import { type Proxied, proxied } from './proxied.ts'
import { messagesCase } from './requests.ts'
import { sendJson } from './scripted-upstream.ts'

let proxy: Proxied | undefined
afterEach(() => proxy?.close())

const { path, request, answer } = messagesCase
const nested = `${'['.repeat(600)}${']'.repeat(600)}`
const deepRequest = request.replace('{', `{"deep":${nested},`)
const longRequest = request.replace('{', `{"long":[${'0,'.repeat(limits.bodyMembersMax)}0],`)
const deepAnswer = JSON.stringify(answer).replace('{', `{"deep":${nested},`)
const veto = { coversSubscriptions: false }
const post = (body: string) => fetch(`${proxy?.url}${path}`, { method: 'POST', body })
const kinds = ({ asked }: ReturnType<typeof scriptedGuard>) => asked.map(({ kind }) => kind)

const unread = [
  ['nests too deeply', deepRequest],
  ['has too many members', longRequest],
] as const
it.each(unread)(
  'a request that %s passes unjudged and unchanged without a veto',
  async (_, sent) => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, (_, response) => sendJson(response, answer))
    const answered = await post(sent)
    expect(answered.headers.get('x-weir')).toBe('unjudged')
    expect(proxy.received[0]?.body.toString()).toBe(sent)
    await proxy.settled()
    expect(kinds(guard)).toEqual([])
  },
)

it.each(unread)('a request that %s is refused under the veto', async (_, sent) => {
  proxy = await proxied(scriptedGuard(), (_, response) => sendJson(response, answer), '', veto)
  const refused = await post(sent)
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining('with at most 512 levels and 100000 members'),
  ])
  expect(proxy.received).toEqual([])
})

it('an answer that nests too deeply passes unchanged without a veto, and is no round', async () => {
  const guard = scriptedGuard()
  proxy = await proxied(guard, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(deepAnswer)
  })
  expect(await (await post(request)).text()).toBe(deepAnswer)
  await proxy.settled()
  expect(kinds(guard)).toEqual(['before'])
})

it('an answer that nests too deeply is an error under the veto', async () => {
  proxy = await proxied(
    scriptedGuard(),
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(deepAnswer)
    },
    '',
    veto,
  )
  const refused = await post(request)
  expect([refused.status, await refused.text()]).toEqual([
    502,
    expect.stringContaining('its calls do not run'),
  ])
})
