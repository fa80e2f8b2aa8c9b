// The share of judgement in a pipeline round. The whole pipeline runs conversations on the embedded
// bus, with a model and tools that answer at once in this process. Then validator and loop-detector
// alone fold the same records again. Both are CPU time of the process, its garbage collector and
// compiler included.
//
// Not measured: reading, decoding and writing the records of the two stages, which any stage would
// cost. The cost of a real model and real tools (HTTP, SSE, processes), which makes the share
// smaller in practice.

import { loopDetector } from '../../services/loop-detector/reducer.ts'
import { validator } from '../../services/validator/reducer.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type {
  Message,
  RoundChecked,
  RoundExecuted,
  RoundProposed,
} from '../../shared/contract/messages.ts'
import type { Stage } from '../../shared/contract/stage.ts'
import { topics } from '../../shared/contract/topology.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { converse, withStages } from './pipeline.ts'
import type { Row } from './row.ts'

const [rounds, conversations, atOnce] = [20, 60, 10]
const laps = 9

export async function benchJudgement(): Promise<Row[]> {
  return withStages(rounds, systemClock, async ({ bus, edge, agent }) => {
    const talk = async (name: string) => {
      for (let i = 0; i < conversations; i += atOnce)
        await Promise.all(
          Array.from({ length: atOnce }, (_, k) => converse(edge, agent, `${name} ${i + k}`)),
        )
    }
    await talk('warm')
    const begun = process.cpuUsage()
    await talk('measured')
    const pipeline = microsecondsSince(begun) / (conversations * (rounds + 1))

    const { proposed, judged } = await inboxes(bus)
    const perRound = (lap: () => void) => median(lap) / proposed.length
    const checking = perRound(() => fold(validator, proposed))
    const detecting = perRound(() => fold(loopDetector, judged))
    const baseline = 'the round in the pipeline'
    return [
      { name: 'judgement: CPU of a round in the pipeline', value: pipeline, unit: 'µs' },
      {
        name: 'judgement: of that the validator',
        value: checking,
        unit: 'µs',
        baseline,
        ratio: checking / pipeline,
      },
      {
        name: 'judgement: of that the loop-detector',
        value: detecting,
        unit: 'µs',
        baseline,
        ratio: detecting / pipeline,
      },
    ]
  })
}

/** The inbox records of the two stages in the measured conversations, in a possible order. */
async function inboxes(
  bus: Bus,
): Promise<{ proposed: RoundProposed[]; judged: (RoundChecked | RoundExecuted)[] }> {
  const found: Message[] = []
  for (const topic of Object.keys(topics))
    for (const { partition } of await bus.ends(topic))
      for (const { value } of await bus.read({ topic, partition, from: 0, limit: 1_000_000 }))
        if (value !== null) found.push(decode(value))
  const proposed = found.filter((message) => message.type === 'round-proposed').filter(isMeasured)
  const judged = found
    .filter((message) => message.type === 'round-checked' || message.type === 'round-executed')
    .filter(isMeasured)
  const place = (message: RoundChecked | RoundExecuted) =>
    2 * message.round + (message.type === 'round-executed' ? 1 : 0)
  return {
    proposed,
    judged: judged.sort(
      (a, b) => a.conversation.localeCompare(b.conversation) || place(a) - place(b),
    ),
  }
}

function isMeasured({ conversation }: { conversation: string }): boolean {
  return conversation.startsWith('measured')
}

function fold<State, In extends Message>(stage: Stage<State, In>, messages: In[]): void {
  const units = new Map<string, State>()
  let records = 0
  for (const [offset, message] of messages.entries()) {
    const unit = stage.unit(message)
    const reaction = stage.react(units.get(unit), { message, offset, previous: undefined, time: 0 })
    if (reaction.state !== undefined) units.set(unit, reaction.state)
    records += reaction.records?.length ?? 0
  }
  if (records < messages.length / 2) throw new Error('the bench has no verdict')
}

function microsecondsSince(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun)
  return user + system
}

/** Of some laps, after some to warm up. */
function median(lap: () => void): number {
  const timed = () => {
    const begun = process.cpuUsage()
    lap()
    return microsecondsSince(begun)
  }
  for (let i = 0; i < laps; i += 1) timed()
  return Array.from({ length: laps }, timed).sort((a, b) => a - b)[laps >> 1] ?? 0
}

if (import.meta.main) console.table(await benchJudgement())
