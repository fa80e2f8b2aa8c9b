// The events of a turn, typed by its agent. `make types` finds the mistakes. The test only shows that
// this file is part of the check.

import { expect, it } from '@jest/globals'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import {
  anthropic,
  defineAgent,
  defineTool,
  type ResultValue,
  type TurnEvent,
  type Weir,
} from '../../client/weir.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>): void => {}

const name = <const Name extends string>(name: Name) => ({ name, description: 'd' })
const city = { city: v.string() }

const weather = defineTool({
  ...name('weather'),
  parameters: z.object({ city: z.string(), days: z.number().default(1) }),
  run: async ({ city, days }) => ({ city, days, at: new Date(0) }),
})
const look = defineTool({
  ...name('look'),
  parameters: toStandardJsonSchema(v.object(city)),
  run: ({ city }) => city,
})
const count = defineTool({ ...name('count'), parameters: { type: 'object' }, run: () => 5 })
const pay = defineTool({
  ...name('pay'),
  parameters: type({ cents: 'number' }),
  needsContext: true,
  run: ({ cents }, { context }: { context: { userId: string } }) => [context.userId, cents],
})
const pick = defineTool({
  ...name('pick'),
  parameters: z.object({ seat: z.string() }),
  client: true,
})
const agent = defineAgent({
  name: 'a',
  model: anthropic('m'),
  system: 's',
  tools: [weather, look, count, pay, pick],
  mcp: { git: { command: ['git-server'] } },
})

type Names = 'weather' | 'look' | 'count' | 'pay' | 'pick' | `git__${string}`
type Event = TurnEvent<typeof agent>
type Started = Extract<Event, { type: 'tool-started' | 'call-offered' }>
type Ok = Extract<Event, { type: 'call-finished'; status: 'ok' }>
type Sent<Name> = Extract<Started, { name: Name }>['arguments']
type Result<Name> = Extract<Ok, { name: Name }>['result']

/** Never called. */
async function program(weir: Weir): Promise<void> {
  same<Started['name'], Names>(true)
  same<Ok['name'], Names>(true)
  same<Extract<Event, { type: 'approval-pending' }>['calls'][number]['name'], Names>(true)

  // The model may leave a default out, and JSON has no Date.
  same<Sent<'weather'>, { city: string; days?: number | undefined } | null>(true)
  same<Sent<'look'>, { city: string } | null>(true)
  same<Sent<'count'>, Record<string, unknown> | null>(true)
  same<Sent<'pick'>, { seat: string } | null>(true)
  same<Result<'weather'>, { city: string; days: number; at: string } | string>(true)
  same<Result<'pay'>, (string | number)[] | string>(true)
  same<Result<'count'>, string>(true)
  // A text may be JSON.
  same<Result<'look'>, ResultValue>(true)

  const turn = weir.ask({ agent, text: 'Hi', context: { userId: 'u' } })
  for await (const event of turn) {
    same<typeof event, Event>(true)
    if (event.type !== 'call-finished') continue
    if (event.name === 'weather' && event.status === 'ok' && typeof event.result === 'object')
      same<typeof event.result.days, number>(true)
    if (event.status === 'denied') same<typeof event.result, string>(true)
    // @ts-expect-error no tool has this name
    if (event.name === 'wether') return
  }
  for await (const event of weir.ask({ agent: 'a', text: 'Hi' }))
    same<typeof event, TurnEvent>(true)

  // @ts-expect-error valibot has no converter to JSON Schema: toStandardJsonSchema adds it
  defineTool({ ...name('t'), parameters: v.object(city), run: () => '' })
  // @ts-expect-error nor for the output of a question
  weir.ask({ agent: 'a', text: 'Hi', output: v.object(city) })
}

it('the types of events by agent are checked by the compiler', () => {
  expect(program).toBeInstanceOf(Function)
})
