// The memory of the HTTP server: each map and digest is listed with its key, and those with a caller as
// a key hold the whole identity.

import { readdirSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { openAnswers } from '../../../../../apps/http/edge/access/open-answers.ts'
import { ownWeir } from '../../../../../apps/http/edge/access/own-weir.ts'
import {
  conversationFor,
  type Principal,
  type PrincipalParts,
  principalId,
} from '../../../../../apps/http/edge/access/principal.ts'
import { requestRate } from '../../../../../apps/http/edge/access/request-rate.ts'
import { createMessageIds } from '../../../../../apps/http/edge/chat/message-ids.ts'
import { createKnownHistories } from '../../../../../apps/http/edge/chat-completions/known-histories.ts'
import { fakeClock } from '../../../../../client/testing/testing.ts'
import type { Weir } from '../../../../../client/weir.ts'

const root = 'apps/http'

/** The number of maps and digests in each file of the server, and their key. */
const memories: Record<string, [count: number, key: string]> = {
  'console/console-assets.ts': [1, 'a path of the page'],
  'console/state/console-reader.ts': [2, 'a partition; a conversation of the log'],
  'console/state/guards-data.ts': [3, 'a guard, a minute'],
  'console/state/hour.ts': [2, 'a minute'],
  'console/state/inbox.ts': [3, 'the place of a call in the log'],
  'console/state/open-turns.ts': [2, 'a conversation and a turn of the log'],
  'console/state/spend.ts': [2, 'a minute; a conversation and a turn of the log'],
  'console/state/stages-data.ts': [3, 'a stage'],
  'console/state/stops.ts': [1, 'a stop'],
  'edge/access/api-keys-command.ts': [1, 'none: the key in evidence has no use'],
  'edge/access/api-keys.ts': [5, 'the hash of a key, or a subject'],
  'edge/access/key-use.ts': [2, 'the hash of a key, or a subject'],
  'edge/chat-completions/known-histories.ts': [2, 'principal'],
  'edge/chat/chat-request.ts': [1, 'a message of one conversation, and its text'],
  'edge/chat/message-ids.ts': [6, 'principal'],
  'edge/edge.ts': [1, 'the request itself'],
  'edge/access/open-answers.ts': [1, 'principal'],
  'edge/access/own-key.ts': [2, 'none: the digests of two keys are compared'],
  'edge/access/request-rate.ts': [1, 'principal'],
  'edge/responses/call-events.ts': [1, 'a call of one response'],
  'fronts/call-round.ts': [1, 'a call of one round'],
  'fronts/front-mark.ts': [2, 'none: the proof of one answer'],
  'fronts/hooks/hook-front.ts': [4, 'a guest, its session and its sub-agent; in it a call'],
  'fronts/hooks/host-sessions.ts': [2, 'a session of a host; a guest and its session'],
  'fronts/mcp/gateway.ts': [1, 'a guest and its conversation'],
  'fronts/mcp/held-call.ts': [1, 'an approval'],
  'fronts/mcp/held-tasks.ts': [1, 'the random id of a task'],
  'fronts/mcp/resource-owners.ts': [2, 'a server; an address that a server named'],
  'fronts/mcp/upstreams.ts': [8, 'a server, a tool'],
  'fronts/proxy/aws/aws-signer.ts': [5, 'none: a header of one request; digests of its signature'],
  'fronts/proxy/encodings.ts': [1, 'an encoding'],
  'fronts/proxy/identity/guest-identity.ts': [7, 'the HMAC of a guest and its key'],
  'fronts/proxy/identity/guest-sessions.ts': [8, 'the HMAC of a guest and its key'],
  'fronts/proxy/unjudged/unjudged-tally.ts': [2, 'a guest'],
  'guards-by-agent.ts': [2, 'a guest'],
  'http2/http2-connections.ts': [1, 'the socket itself'],
  'request-body.ts': [1, 'the request itself'],
  'up-with-fronts.ts': [1, 'a guest of the files'],
  'webhook/webhook-events.ts': [1, 'a call of the log'],
}

const memory =
  /\bnew (?:Weak)?Map\b|(?<!function )\b(?:newest|digest|hash|createHash|createHmac)[<(]/g

function memoriesIn(folder: string): Record<string, number> {
  const files = readdirSync(join(root, folder), { withFileTypes: true })
  return Object.assign(
    {},
    ...files.map((file) => {
      const path = join(folder, file.name)
      if (file.isDirectory()) return file.name === 'page' ? {} : memoriesIn(path)
      const count = readFileSync(join(root, path), 'utf8').match(memory)?.length ?? 0
      return count === 0 ? {} : { [path]: count }
    }),
  )
}

function principal(parts: PrincipalParts): Principal {
  return {
    id: principalId(parts),
    tenant: parts.tenant,
    identity: 'authenticated',
    roles: new Set(),
    cancelsOnDisconnect: false,
  }
}

/** Each differs from another one in one part only. */
const callers = [
  principal({ tenant: 'acme', kind: 'key', name: 'ann' }),
  principal({ tenant: 'beta', kind: 'key', name: 'ann' }),
  principal({ tenant: null, kind: 'key', name: 'ann' }),
  principal({ tenant: 'acme', kind: 'certificate', name: 'ann' }),
  principal({ tenant: 'acme', kind: 'subject', name: 'ann' }),
  principal({ tenant: 'acme', kind: 'subject', name: 'key:ann' }),
  principal({ tenant: 'acme', kind: 'key', name: 'bob' }),
]

/** A log without a turn. */
const emptyLog = () => ({ conversation: () => ({ turns: async () => [] }) }) as unknown as Weir
const body = Buffer.from('{}')

/** The entry that each caller gets for one equal request. Equal texts: two callers share an entry. */
const entries: Record<string, () => Promise<unknown[]> | unknown[]> = {
  'edge/access/open-answers.ts'() {
    const open = openAnswers()
    return callers.map((caller, at) => {
      let count = 0
      const outgoing = { destroyed: false, once: () => (count += 1) } as unknown as ServerResponse
      for (let times = 0; times < at; times += 1) open(caller, outgoing)
      count = 0
      try {
        for (;;) open(caller, outgoing)
      } catch {
        return count
      }
    })
  },
  'edge/access/request-rate.ts'() {
    const take = requestRate(10, fakeClock(0))
    return callers.map(({ id }, at) => {
      for (let times = 0; times < at; times += 1) take(id)
      return take(id)['x-ratelimit-remaining-requests']
    })
  },
  'edge/chat-completions/known-histories.ts'() {
    const histories = createKnownHistories()
    const history = [{ role: 'user' as const, text: 'hi' }]
    for (const [at, caller] of callers.entries()) histories.keep(caller, history, `${at}`)
    return callers.map((caller) => histories.find(caller, history))
  },
  async 'edge/chat/message-ids.ts'() {
    const ids = createMessageIds(emptyLog, fakeClock(0))
    const found: unknown[] = []
    const request = { body, text: 'hi', key: undefined, conversation: undefined }
    for (const caller of callers) {
      const { message } = await ids.of({ ...request, principal: caller })
      found.push(conversationFor(caller, message.conversation))
      const named = await ids.of({ ...request, principal: caller, conversation: 'c' })
      found.push(named.message.messageId)
      const withKey = await ids.of({ ...request, principal: caller, key: 'k' })
      found.push(conversationFor(caller, withKey.message.conversation))
    }
    return found
  },
}

describe('the memory of the HTTP server', () => {
  it('is listed with its keys', () => {
    const listed = Object.entries(memories)
    expect(memoriesIn('')).toEqual(
      Object.fromEntries(listed.map(([file, [count]]) => [file, count])),
    )
  })

  it('has a test for each part with a principal as its key', () => {
    const files = Object.keys(memories).filter((file) => memories[file]?.[1] === 'principal')
    expect(Object.keys(entries).sort()).toEqual(files.sort())
  })

  it.each(Object.keys(entries))('%s has one entry for each tenant, kind and name', async (file) => {
    const found = (await entries[file]?.()) ?? []
    expect(found).not.toContain(undefined)
    expect(new Set(found).size).toBe(found.length)
  })

  it('gives a tenant its own conversation for a request that another tenant has sent', async () => {
    const ids = createMessageIds(emptyLog, fakeClock(0))
    const [acme, beta] = callers as [Principal, Principal]
    const request = { body, text: 'hi', key: undefined, conversation: undefined }
    for (const caller of [acme, beta, acme]) {
      const { message } = await ids.of({ ...request, principal: caller })
      expect(message.conversation).toMatch(`${caller.tenant}:new-`)
    }
  })
})

describe('Weir for a principal with a tenant', () => {
  const [acme] = callers as [Principal]
  const used: string[] = []
  const use = (name: string) => () => used.push(name)
  const whole = {
    ask: use('ask'),
    cancel: use('cancel'),
    conversation: use('conversation'),
    conversations: use('conversations'),
  } as unknown as Weir
  const weir = ownWeir(whole, acme)

  it.each(['beta:c', 'c', '', 'acme'])('uses no conversation with the id %j', async (id) => {
    const message = { conversation: id, messageId: 'm' }
    expect(() => weir.conversation(id)).toThrow('another tenant')
    expect(() => weir.ask({ ...message, agent: 'helper', text: 'hi' })).toThrow('another tenant')
    await expect(weir.cancel(message)).rejects.toThrow('another tenant')
    expect(used).toEqual([])
  })

  it('starts no conversation without an id, and lists none', async () => {
    expect(() => weir.ask({ agent: 'helper', text: 'hi' })).toThrow('another tenant')
    await expect(weir.conversations()).rejects.toThrow('all tenants')
    expect(used).toEqual([])
  })

  it('shows and decides only calls of the tenant', async () => {
    const calls = ['acme:c', 'beta:c', 'c'].map((conversation) => ({ conversation }))
    const tenants: unknown[] = []
    const decide = async (_: string, { tenant }: { tenant: string }) => tenants.push(tenant)
    const decides = { approvals: async () => calls, allow: decide, deny: decide }
    const own = ownWeir(decides as unknown as Weir, acme)
    expect(await own.approvals()).toEqual([{ conversation: 'acme:c' }])
    await own.allow('k7f3', { tenant: 'beta' })
    await own.deny('k7f3', {})
    expect(tenants).toEqual(['acme', 'acme'])
  })
})
