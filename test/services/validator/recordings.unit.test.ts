// Recorded and broken streams through the adapter, the accumulator and the validator. Calls that
// must never reach a tool are refused, and no others. The tools accept any arguments, so only the
// stream can be at fault.

import { describe, expect, it } from '@jest/globals'
import { connect } from '../../../services/llm-gateway/performer/providers/providers.ts'
import { answering, type StreamCase, streamFixtures } from '../../support/provider-streams.ts'
import { proposedFor } from '../accumulator/stream.ts'
import { agentOf, readToEnd } from '../llm-gateway/samples.ts'
import { checked, tool } from './round.ts'

const fixtures = streamFixtures('anthropic')
const whereFixturesAre = fixtures === undefined ? describe.skip : describe
const cases: StreamCase[] = fixtures ?? [
  { name: 'no fixtures here', bytes: Buffer.alloc(0), calls: [] },
]

whereFixturesAre('a call of a recorded stream', () => {
  it.each(cases.map((stream) => [stream.name, stream] as const))(
    'runs or refuses each call of a recorded stream as listed: %s',
    async (_name, { bytes, calls }) => {
      const { events, ending } = await readToEnd(connect(agentOf(), answering(bytes)))
      const { stop, finish } =
        ending?.kind === 'finished' ? ending : { stop: 'cut' as const, finish: '' }
      const declarations = [...new Set(calls.map(({ name }) => name))].map((name) =>
        tool(name, { type: 'object' }),
      )

      const round = checked({
        ...proposedFor(events, { stop, finish, declarations }),
        offered: declarations.map(({ name }) => name),
      })
      expect(round.denials.map(({ ordinal }) => ordinal)).toEqual(
        [...calls.keys()].filter((ordinal) => calls[ordinal]?.executable === false),
      )
      expect(round.response.calls.filter(({ problem }) => problem === null)).toHaveLength(
        calls.length - round.denials.length,
      )
    },
  )
})
