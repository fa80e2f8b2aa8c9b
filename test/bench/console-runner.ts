// The server of console.ts, in its own process: a log of a million records of activity, and the
// console over it. Reports the fold of these records, then serves pages until its parent leaves.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { openLog } from '../../apps/history/open-log.ts'
import { openConsoleReader } from '../../apps/http/console/state/console-reader.ts'
import { startEdgeWithConsole } from '../../apps/http/serve/edge-with-console.ts'
import { says, scriptedModel } from '../../client/testing/testing.ts'
import { defineAgent, Weir } from '../../client/weir.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import { logFileIn } from '../../shared/bus/embedded/file/log-file.ts'
import type { RecordToAppend } from '../../shared/contract/bus.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import {
  callFinished,
  interventionRaised,
  roundStarted,
  toolStarted,
  turnFinished,
  turnStarted,
} from '../support/activity.ts'

export type ConsoleFacts = {
  url: string
  records: number
  /** Milliseconds of CPU of the fold. */
  foldMs: number
  /** Bytes of the heap after a collection: at a tenth of the records, and at all. */
  heapEarly: number
  heapWhole: number
}

const conversations = 100_000
const partitions = 4
/** More than the console follows, so its fold is full. */
const openShare = 0.15
const atOnce = 500

const folder = mkdtempSync(join(tmpdir(), 'weir-bench-console-'))
const log = pino({ level: 'silent' })

/** Ten records of activity, fewer of an open turn: three rounds, each with a tool, and a judgement. */
function messagesOf(conversation: string, isOpen: boolean): Message[] {
  const at = { conversation, turn: 1 }
  const answered: Message = {
    type: 'model-answered',
    ...at,
    round: 1,
    attempt: 'a',
    text: 'I look.',
    textBytes: 7,
    stop: 'calls',
    calls: [],
    usage: { inputTokens: 1_000, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 },
  }
  const round = (number: number): Message[] => [
    { ...roundStarted(number), ...at },
    { ...answered, round: number },
    { ...toolStarted(0, { round: number }), ...at },
  ]
  const all: Message[] = [
    { ...turnStarted(), ...at },
    ...round(1),
    { ...callFinished(), ...at },
    ...round(2),
    { ...interventionRaised('identical-failure', 'the same again'), ...at },
    { ...turnFinished(), ...at },
  ]
  return isOpen ? all.slice(0, -1) : all
}

/** Writes the records straight to the log. Returns the number of those in the activity. */
async function seed(): Promise<number> {
  const bus = await openEmbeddedBus({ file: logFileIn(folder), clock: systemClock })
  await bus.ensureTopics(topicSpecs('weir.', partitions))
  let records = 0
  for (let n = 0; n < conversations; n += atOnce) {
    const some: RecordToAppend[] = []
    for (let k = n; k < n + atOnce; k += 1) {
      const conversation = `conversation-${k}`
      const partition = partitionOf(conversation, partitions)
      const place = { partition, topic: 'weir.activity' }
      const messages = messagesOf(conversation, k % 100 < openShare * 100)
      records += messages.length
      const question: Message = {
        type: 'history-entry',
        conversation,
        turn: 1,
        round: 0,
        user: `Question ${k}`,
        contents: [],
        afterTurn: null,
        response: null,
        results: [],
        nudge: null,
        note: null,
        redact: [],
      }
      some.push(toRecord({ partition, topic: 'weir.history', message: question }))
      for (const message of messages) some.push(toRecord({ ...place, message }))
    }
    await bus.append(some)
  }
  await bus.close()
  return records
}

/** Keeps the result of the fold in memory while it is measured. */
async function fold(records: number): Promise<Omit<ConsoleFacts, 'url' | 'records'>> {
  const open = await openLog(readSettings({ dataFolder: folder }, {}))
  const heap = (): number => {
    globalThis.gc?.()
    return process.memoryUsage().heapUsed
  }
  const before = process.cpuUsage()
  const reader = await openConsoleReader({ ...open, log })
  let heapEarly: number | undefined
  for (;;) {
    const { version } = reader
    const { behind } = (await reader.state()).health
    if (behind < records * 0.9) heapEarly ??= heap()
    if (behind === 0) break
    await reader.changed(version, AbortSignal.timeout(60_000))
  }
  const { user, system } = process.cpuUsage(before)
  const heapWhole = heap()
  await reader.close()
  await open.bus.close()
  return { foldMs: (user + system) / 1_000, heapEarly: heapEarly ?? 0, heapWhole }
}

const records = await seed()
const folded = await fold(records)
const agent = defineAgent({ name: 'helper', model: scriptedModel(says('Hello.')), system: 'Help.' })
const weir = await Weir.open({ agents: [agent], dataFolder: folder, partitions, log })
const server = await startEdgeWithConsole(readSettings({ dataFolder: folder }, {}), {
  weir,
  log,
  host: '127.0.0.1',
  port: 0,
  access: {},
  origins: [],
})
process.send?.({ url: server.url, records, ...folded } satisfies ConsoleFacts)
process.once('disconnect', async () => {
  await server.close()
  await weir.close()
  rmSync(folder, { recursive: true, force: true })
})
