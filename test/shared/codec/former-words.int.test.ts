// Records of version 0.1 in the words of today. Version 0.1 wrote the bundle: two calls that a person
// decided, one that a guard denied, one with wrong arguments, and a loop.

import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from '@jest/globals'
import type { LockEntry, Schema } from '../../../schemas/lock-entry.ts'
import { openBundle } from '../../../shared/bus/bundle/bus.ts'
import { decode, knownSchemas } from '../../../shared/codec/codec.ts'
import { formerWords } from '../../../shared/codec/former-words.ts'
import { isDeniedByGuard } from '../../../shared/contract/call/call.ts'
import type { Message, MessageOf, MessageType } from '../../../shared/contract/messages.ts'
import { systemClock } from '../../../shared/lib/clock.ts'

const file = fileURLToPath(new URL('../../bundles/version-0.1/decisions.weir', import.meta.url))
const messages: Message[] = []

beforeAll(async () => {
  const { bus, facts, topics } = await openBundle(file, systemClock)
  for (const { name } of topics()) {
    const topic = facts.topicPrefix + name
    for (const { partition, end } of await bus.ends(topic)) {
      const records = await bus.read({ topic, partition, from: 0, to: end, limit: 10_000 })
      for (const { value } of records) if (value !== null) messages.push(decode(value))
    }
  }
  await bus.close()
})

const of = <T extends MessageType>(type: T) =>
  messages.filter((message): message is MessageOf<T> => message.type === type)

describe('a bundle of version 0.1', () => {
  it('has the verdicts of guards in the words of today', () => {
    const [first] = of('guard-verdict').filter(({ guard }) => guard === 'gone')
    expect(first?.verdicts.map(({ verdict }) => verdict)).toEqual([
      'allow',
      'allow',
      'deny',
      'allow',
    ])
    const guards = of('round-cleared').flatMap(({ policy }) => policy.guards)
    expect(new Set(guards.map(({ onTimeout }) => onTimeout))).toEqual(new Set(['deny']))
  })
})

describe('the ends of calls in it', () => {
  it('are ok and denied, and a loop has actions', () => {
    const ends = of('call-finished').map(({ status }) => status)
    expect(new Set(ends)).toEqual(new Set(['ok', 'denied']))
    const byGuard = of('call-finished').filter(isDeniedByGuard)
    expect(byGuard).toHaveLength(5)
    const executed = of('round-executed').flatMap(({ results }) => results)
    expect(executed.map(({ status }) => status).slice(0, 5)).toEqual([
      'ok',
      'denied',
      'denied',
      'ok',
      'denied',
    ])
    expect(of('intervention-raised').map(({ intervention }) => intervention.action)).toEqual([
      'nudge',
      'text_only',
    ])
  })
})

describe('the answers of persons in it', () => {
  it('are allow and deny', () => {
    expect(of('approval-answered').map(({ answer, by }) => [answer, by])).toEqual([
      ['allow', 'ann'],
      ['deny', 'bob'],
    ])
    expect(of('approval-decided').map(({ outcome }) => outcome)).toEqual(['allow', 'deny'])
  })
})

describe('a symbol of a released schema', () => {
  it('is a symbol of today or has a successor, so no record reads as the default', () => {
    const today = new Map<string, string[]>()
    for (const { schema } of newestOf(knownSchemas)) addEnums(today, schema)
    const lost = knownSchemas
      .filter(({ released }) => released)
      .flatMap(({ schema, id }) =>
        [...addEnums(new Map(), schema)].flatMap(([name, symbols]) =>
          symbols
            .filter((symbol) => {
              const successor = formerWords[name]?.[symbol] ?? symbol
              return today.has(name) && today.get(name)?.includes(successor) !== true
            })
            .map((symbol) => `${id} ${name} ${symbol}`),
        ),
      )
    expect(lost).toEqual([])
  })
})

function newestOf(lock: readonly LockEntry[]): LockEntry[] {
  return lock.filter(
    (entry) => !lock.some(({ type, version }) => type === entry.type && version > entry.version),
  )
}

function addEnums(enums: Map<string, string[]>, schema: Schema): Map<string, string[]> {
  if (typeof schema === 'string') return enums
  if (Array.isArray(schema)) for (const branch of schema) addEnums(enums, branch)
  else if (schema.type === 'array') addEnums(enums, schema.items)
  else if (schema.type === 'map') addEnums(enums, schema.values)
  else if (schema.type === 'enum') enums.set(schema.name, schema.symbols)
  else if (schema.type === 'record') for (const { type } of schema.fields) addEnums(enums, type)
  return enums
}
