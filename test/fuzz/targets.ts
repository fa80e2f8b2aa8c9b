// The parsers that the fuzzer tries, each with a property: an answer, or the documented error. A
// value that it accepts reads the same from its print.

import { deepStrictEqual } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hookKinds, hookPayloadOf } from '../../apps/http/fronts/hooks/hook-payload.ts'
import { HttpError } from '../../apps/http/http-error.ts'
import { judgedSession } from '../../apps/replay/scan/judged-session.ts'
import { readTranscripts } from '../../apps/transcripts/read-transcripts.ts'
import shellGuard from '../../services/guards/shell/guard.ts'
import { providers } from '../../services/llm-gateway/performer/providers/providers.ts'
import { loadAgentFile } from '../../shared/agents/file/load-agents.ts'
import { defaultPolicy } from '../../shared/agents/policy/policy.ts'
import { openBundle } from '../../shared/bus/bundle/bus.ts'
import { trailerBytes, trailerOf } from '../../shared/bus/bundle/format.ts'
import { limits } from '../../shared/contract/limits.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { boundedJson } from '../../shared/lib/json/bounded-json.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { messageLines } from '../../shared/tools/message-lines.ts'
import { createLeftOut } from '../../shared/transcript/left-out.ts'
import { type SentEvent, sentEvents } from '../../shared/wire/event-stream.ts'
import { callsOfAnswer, textOfAnswer } from '../../shared/wire/exchange.ts'
import { canBeDenied, type VetoedFormat } from '../../shared/wire/proxied.ts'
import { sessionPrograms } from '../../shared/wire/sessions.ts'
import { type EventData, StrictFault } from '../../shared/wire/strict/strict.ts'
import { strictObject } from '../../shared/wire/strict/strict-json.ts'
import { modelFormats } from '../support/model-formats.ts'

export type Target = {
  name: string
  corpus: readonly Buffer[]
  isText: boolean
  /** Throws if the property does not hold. `isExpected` errors are answers. */
  run(input: Buffer): void | Promise<void>
  isExpected(error: unknown): boolean
}

const folder = mkdtempSync(join(tmpdir(), 'weir-fuzz-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const isStrictFault = (error: unknown) => error instanceof StrictFault
const never = () => false
const hasCode =
  (...starts: string[]) =>
  (error: unknown) =>
    error instanceof WeirError && starts.some((start) => error.code.startsWith(start))

export const targets: readonly Target[] = [
  {
    name: 'strict-json',
    ...corpusOf('strict-json', 'answers'),
    isExpected: isStrictFault,
    run(input) {
      const print = JSON.stringify(strictObject(input.toString('utf8')))
      deepStrictEqual(JSON.stringify(strictObject(print)), print)
    },
  },
  ...modelFormats.filter(canBeDenied).flatMap(({ name, strict, stream }): Target[] => [
    {
      name: `answers of ${name}`,
      ...corpusOf('answers'),
      isExpected: isStrictFault,
      run(input) {
        const answer = strict.whole(strictObject(input.toString('utf8')))
        const print = JSON.stringify(strict.body(answer, answer.rawUsage))
        const again = strict.whole(strictObject(print))
        deepStrictEqual(callsOfAnswer(again).map(wordsOf), callsOfAnswer(answer).map(wordsOf))
        deepStrictEqual(JSON.stringify(strict.body(again, again.rawUsage)), print)
      },
    },
    {
      name: `streams of ${name}`,
      ...corpusOf('streams'),
      isExpected: isStrictFault,
      run(input) {
        const { shown, answer } = readStrictly({ strict, stream }, [input])
        const client = strict.client()
        const events = [...client.shown(shown), ...client.rest(answer)]
        const print = Buffer.from(stream.framing.print(events))
        // The pieces of a body may end anywhere.
        const pieces =
          print.length > 2_000 ? [print] : [...print].map((byte) => Buffer.from([byte]))
        const again = readStrictly({ strict, stream }, pieces).answer
        deepStrictEqual(callsOfAnswer(again).map(wordsOf), callsOfAnswer(answer).map(wordsOf))
        deepStrictEqual(textOfAnswer(again), textOfAnswer(answer))
      },
    },
  ]),
  {
    name: 'event streams',
    ...corpusOf('streams', 'events'),
    isExpected: hasCode('provider.stream'),
    async run(input) {
      const whole = await eventsIn([input])
      const middle = Math.floor(input.length / 2)
      const halves = await eventsIn([input.subarray(0, middle), input.subarray(middle)])
      // An error ends the stream for its reader. The pieces decide only about the events after it.
      deepStrictEqual(untilError(halves), untilError(whole))
    },
  },
  {
    name: 'mcp-lines',
    ...corpusOf('mcp-lines'),
    isExpected: never,
    run(input) {
      const lines: string[] = []
      let tooLong = 0
      const take = messageLines(1_000, {
        onLine: (line) => lines.push(line),
        onTooLong: () => {
          tooLong += 1
        },
      })
      for (let at = 0; at < input.length; at += 7) take(input.subarray(at, at + 7))
      take(Buffer.from('\n'))
      if (tooLong === 0)
        deepStrictEqual(
          lines,
          input
            .toString('utf8')
            .split('\n')
            .filter((line) => line.trim() !== ''),
        )
      for (const line of lines) boundedJson(line, limits.jsonDepthMax)
    },
  },
  {
    name: 'agent-files',
    ...corpusOf('agent-files'),
    isExpected: hasCode('agent.'),
    run(input) {
      const file = join(folder, 'a.yaml')
      writeFileSync(file, input)
      loadAgentFile(file, { ANTHROPIC_API_KEY: 'k', A: 'a', PATH: '/bin' }, {}, { providers })
    },
  },
  {
    name: 'hook-payloads',
    ...corpusOf('hook-payloads'),
    isExpected: (error) => error instanceof HttpError && error.status === 400,
    run(input) {
      const body = boundedJson(input.toString('utf8'), limits.jsonDepthMax)
      if (!isObject(body)) return
      const faults = hookKinds.flatMap((kind) => {
        try {
          hookPayloadOf(kind, body)
          return []
        } catch (error) {
          return [error]
        }
      })
      for (const fault of faults) if (!(fault instanceof HttpError)) throw fault
    },
  },
  {
    name: 'recorded sessions',
    ...corpusOf('sessions'),
    isExpected: never,
    async run(input) {
      const content = { name: 's', text: input.toString('utf8') }
      for (const { name } of sessionPrograms)
        try {
          for (const session of await sessionsIn(name, content))
            judgedSession(session, { host: name, policy: defaultPolicy })
        } catch (error) {
          if (!isUnreadable(error)) throw error
        }
    },
  },
  {
    name: 'shell commands',
    ...corpusOf('shell'),
    isExpected: never,
    run(input) {
      const [verdict] = shell.judge(undefined, roundOf(input.toString('utf8'))).verdicts
      if (verdict === undefined) throw new Error('no verdict')
      if (verdict.verdict === 'deny' && verdict.text.includes('could not be judged'))
        throw new Error(verdict.text)
    },
  },
  {
    name: 'bundles',
    corpus: bundles(),
    isText: false,
    isExpected: hasCode('bundle.'),
    async run(input) {
      const file = join(folder, 'a.weir')
      // Half of the files get a seal that fits, as an attacker would make it.
      const content = input.subarray(0, -trailerBytes)
      const digest = createHash('sha256').update(content).digest('hex')
      const isSealed = (input.at(-1) ?? 0) % 2 === 0
      writeFileSync(file, isSealed ? Buffer.concat([content, trailerOf(digest)]) : input)
      const bundle = await openBundle(file, systemClock)
      try {
        for (const { conversation } of bundle.turns()) bundle.recordsOf(conversation)
      } finally {
        await bundle.bus.close()
      }
    },
  },
]

const isUnreadable = hasCode('transcript.', 'usage')

async function sessionsIn(format: string, content: { name: string; text: string }) {
  const { transcripts } = await readTranscripts('sessions', {
    format,
    content,
    idField: undefined,
    leftOut: createLeftOut(),
    signal: new AbortController().signal,
    read() {},
  })
  return [...transcripts(() => {})]
}

const shell = shellGuard({
  tools: ['bash'],
  allowedFolders: ['/work', '/tmp'],
  workingFolder: '/work/app',
  home: '/home/u',
})

function roundOf(command: string) {
  const call = {
    ordinal: 0,
    tool: 'bash',
    arguments: { command },
    source: 'deltas',
    enforced: true,
  }
  const round = { conversation: 'c', turn: 1, round: 1, agent: 'a', time: 0, calls: [call] }
  return round as unknown as Parameters<typeof shell.judge>[1]
}

function readStrictly(
  { strict, stream }: Pick<VetoedFormat, 'strict' | 'stream'>,
  pieces: readonly Buffer[],
) {
  const events = stream.framing.read()
  const reader = strict.stream()
  const data: EventData[] = [...pieces.flatMap((piece) => events.take(piece)), ...events.end()]
  const shown = data.flatMap((one) => reader.read(one))
  return { shown, answer: reader.end() }
}

async function eventsIn(pieces: readonly Buffer[]): Promise<SentEvent[]> {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) if (piece.length > 0) controller.enqueue(piece)
      controller.close()
    },
  })
  const events: SentEvent[] = []
  for await (const batch of sentEvents(new Response(body), () => {})) events.push(...batch)
  return events
}

function untilError(events: readonly SentEvent[]): SentEvent[] {
  const end = events.findIndex(({ event }) => event === 'error')
  return end < 0 ? [...events] : events.slice(0, end + 1)
}

type Call = ReturnType<typeof callsOfAnswer>[number]
const wordsOf = ({ id, name, arguments: text }: Call) => [id, name, text]

function corpusOf(...names: string[]): Pick<Target, 'corpus' | 'isText'> {
  const folders = names.map((name) => fileURLToPath(new URL(`corpus/${name}/`, import.meta.url)))
  const files = folders.flatMap((path) => readdirSync(path).map((file) => join(path, file)))
  return { corpus: files.map((file) => readFileSync(file)), isText: true }
}

function bundles(): Buffer[] {
  const names = ['i1-reflex-loop.weir', 'i5-broken-schema.weir', 'version-0.1/decisions.weir']
  return names.map((name) => readFileSync(new URL(`../bundles/${name}`, import.meta.url)))
}
