// Plays a transcript through Weir's own reducers, in memory: what the users, the model and the
// tools of the foreign runtime did is what here a client and performers write, and everything else
// is derived. So the records are whole ones: whatever reads or replays a conversation of Weir reads
// this one.
// PLAYED-1. Nothing intervenes: thresholds and caps are out of reach, so the conversation goes the
//     way it went. What Weir would have done is asked afterwards, with other thresholds (weir
//     judge, weir replay --set).
// PLAYED-2. A call that the validator refuses gets Weir's answer, not the recorded one: what a
//     refused call brought elsewhere cannot stand in a record. It is told.
// PLAYED-3. What the transcript ends with stays open: the last calls of a turn that have no result
//     are never answered, a turn without an end is cancelled when the next one begins.
// PLAYED-4. There is no clock: each step is a millisecond later than the one before, and what a
//     step writes has one time, as in a log.

import { accumulator } from '../../services/accumulator/reducer.ts'
import { conversation as conversationStage } from '../../services/conversation/reducer.ts'
import { executor } from '../../services/executor/reducer.ts'
import type { ToolTask } from '../../services/executor/tasks.ts'
import { errorLine } from '../../services/executor/tools/error-line.ts'
import { meaningOf } from '../../services/llm-gateway/providers/finish-reasons.ts'
import { type AttemptTask, llmGateway } from '../../services/llm-gateway/reducer.ts'
import { loopDetector } from '../../services/loop-detector/reducer.ts'
import { validator } from '../../services/validator/reducer.ts'
import { outcomeUnknown } from '../../shared/contract/call-endings.ts'
import type {
  AttemptFinished,
  CallResult,
  Declaration,
  PartEvent,
} from '../../shared/contract/messages.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { version } from '../../shared/lib/version.ts'
import { createPlayer, type PlayedLog, type PlayedRecord } from '../../shared/runtime/in-memory.ts'
import { madeUpSettings as settings } from './made-up-settings.ts'
import {
  declarationOf,
  type Transcript,
  type TranscriptResponse,
  type TranscriptResult,
  type TranscriptTurn,
} from './transcript.ts'

export type TranscriptPlayer = {
  /**
   * The records that a transcript makes, without the prefix in their topics, in the order in which
   * they are written.
   */
  play(transcript: Transcript): Promise<Played>
}

/**
 * `unheard`: responses of the transcript behind the end of their turn. `unanswered`: calls without
 * a result; `unknown`: those behind which the model went on.
 */
export type Played = {
  records: readonly PlayedRecord[]
  unheard: number
  unanswered: number
  unknown: number
}

const agent = 'transcript'
const owner = 'transcript'

/**
 * `pause`: called behind each step, with the responses that were played in it; playing takes its
 * time. What it throws ends the playing.
 */
export type TranscriptPlayerOptions = {
  topicPrefix: string
  startAt: Milliseconds
  pause: (responses: number) => Promise<void>
}

/** Offsets and time go on from transcript to transcript, all in one partition. */
export function createTranscriptPlayer({
  topicPrefix,
  startAt,
  pause,
}: TranscriptPlayerOptions): TranscriptPlayer {
  const log: PlayedLog = { now: startAt, ends: new Map() }
  return { play: (transcript) => playOf(log, { topicPrefix, pause })(transcript) }
}

/**
 * Plays one transcript: conversations know nothing of one another, and there may be more of them
 * than fit into memory.
 */
function playOf(
  log: PlayedLog,
  { topicPrefix, pause }: Omit<TranscriptPlayerOptions, 'startAt'>,
): TranscriptPlayer['play'] {
  const player = createPlayer({ log, topicPrefix, isLog: true })
  const conversations = player.add(conversationStage)
  const gateway = player.add(llmGateway)
  player.add(accumulator)
  player.add(validator)
  player.add(loopDetector)
  const tools = player.add(executor)

  function answer(
    { request }: AttemptTask,
    response: TranscriptResponse,
    declared: Declaration[],
  ): void {
    const { conversation, turn, round } = request
    const place = { conversation, turn, round }
    const attempt = `${conversation} ${turn} ${round}`
    const events = eventsOf(response)
    const parts = events.length === 0 ? 0 : 1
    const { finish, usage } = response
    const named = new Set(response.calls.map(({ name }) => name))
    const declarations = declared.filter(({ name }) => named.has(name))
    player.append('model-requests', {
      type: 'attempt-started',
      ...place,
      attempt,
      owner,
      weir: version(),
    })
    if (parts > 0) player.append('model-deltas', { type: 'part', ...place, attempt, i: 0, events })
    const finished = {
      attempt,
      parts,
      finish,
      stop: stopOf(response),
      usage,
      declarations,
      policy: settings.policy,
      callsAsText: false,
    }
    player.append('model-requests', { type: 'attempt-finished', ...place, ...finished })
  }

  /** Plays one turn to its end, or as far as it goes. */
  async function playTurn(
    conversation: string,
    turn: TranscriptTurn,
    messageId: string,
    declarations: Declaration[],
  ): Promise<number> {
    player.append('conversation-events', {
      ...{
        type: 'user-message',
        conversation,
        messageId,
        text: turn.user,
        agent,
        settings,
        declarations,
      },
    })
    await player.settle()
    const left = [...turn.responses]
    const rounds = new Map<number, TranscriptResponse>()
    for (let isMoving = true; isMoving; ) {
      isMoving = false
      const task = gateway.tasks(conversation)[0]
      const response = task === undefined ? undefined : left.shift()
      if (task !== undefined && response !== undefined) {
        rounds.set(task.request.round, response)
        answer(task, response, declarations)
        isMoving = true
      }
      for (const tool of tools.tasks(conversation)) {
        if (tool.kind === 'await-verdict') continue
        if (runTool(tool, rounds.get(tool.round))) isMoving = true
      }
      await player.settle()
      await pause(response === undefined ? 0 : 1)
    }
    return left.length
  }

  /** False: there is nothing to do for it. */
  function runTool(task: ToolTask, response: TranscriptResponse | undefined): boolean {
    const { conversation, turn, round, ordinal } = task
    const result = response?.calls[ordinal]?.result
    if (result === undefined) return false // keeps PLAYED-3
    const place = { conversation, turn, round, ordinal, try: task.try }
    if (task.kind === 'claim') player.append('rounds-cleared', { type: 'claim', ...place, owner })
    else
      player.append('rounds-cleared', {
        type: 'outcome',
        ...place,
        owner,
        result: resultOf(ordinal, result),
      })
    return true
  }

  return async ({ conversation, turns, tools: listed }) => {
    const declarations = listed ?? calledIn(turns)
    let unheard = 0
    for (const [at, turn] of turns.entries()) {
      const isOpen = conversations.units.get(conversation)?.state.phase === 'open'
      if (isOpen)
        player.append('conversation-events', {
          type: 'cancel-requested',
          conversation,
          messageId: messageIdOf(at - 1),
        })
      await player.settle()
      unheard += await playTurn(conversation, turn, messageIdOf(at), declarations)
    }
    const results = turns.flatMap(({ responses }) =>
      responses.flatMap(({ calls }) => calls.map(({ result }) => result)),
    )
    const having = (wanted: TranscriptResult | undefined) =>
      results.filter((result) => result === wanted).length
    return {
      records: player.records,
      unheard,
      unanswered: having(undefined),
      unknown: having('unknown'),
    }
  }
}

function messageIdOf(turn: number): string {
  return `message ${turn + 1}`
}

/** Where a transcript lists no tools, each that is called takes any object. */
function calledIn(turns: TranscriptTurn[]): Declaration[] {
  const names = turns.flatMap(({ responses }) =>
    responses.flatMap(({ calls }) => calls.map(({ name }) => name)),
  )
  return [...new Set(names)].map((name) => declarationOf(name, undefined, undefined))
}

function eventsOf({ text, reasoning, calls }: TranscriptResponse): PartEvent[] {
  const event = (
    kind: PartEvent['kind'],
    index: number,
    content: string,
    of: Partial<PartEvent> = {},
  ): PartEvent => ({
    ...{ kind, index, id: null, name: null, text: content },
    ...of,
  })
  return [
    ...reasoning.map((block, index) => event('reasoning_block', index, JSON.stringify(block))),
    ...(text === '' ? [] : [event('text', 0, text)]),
    ...calls.flatMap(({ id, name, arguments: raw }, index) => [
      event('call_start', index, '', { id, name }),
      ...(raw === '' ? [] : [event('call_arguments', index, raw)]),
      event('call_end', index, ''),
    ]),
  ]
}

/** What it said in calls was run, whatever cut it off. */
function stopOf({ calls, finish }: TranscriptResponse): AttemptFinished['stop'] {
  if (calls.length > 0) return 'calls'
  const meaning = meaningOf(finish)
  return meaning === 'length' || meaning === 'refusal' ? meaning : 'end'
}

function resultOf(ordinal: number, result: TranscriptResult): CallResult {
  if (result === 'unknown')
    return {
      ordinal,
      ...outcomeUnknown(
        'The transcript has no result of this call.',
        'no result in the transcript',
      ),
      durationMs: 0,
    }
  const { text, isError } = result
  const reason = isError ? (errorLine(text) ?? 'it failed and said nothing') : ''
  return { ordinal, status: isError ? 'error' : 'ok', text, reason, durationMs: 0 }
}
