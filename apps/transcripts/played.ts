// Plays a transcript through Weir's reducers in memory, so its records are complete: every command
// for conversations of Weir reads them. Users, model and tools of the transcript take the place of
// client and performers.
// Nothing intervenes by default: thresholds and caps are out of reach. Use weir judge or
// weir replay --set to see the interventions of other thresholds.
// A call that the validator denies gets Weir's answer, because a record cannot hold its
// result. The import reports it.
// The open end of a transcript stays open: calls without results stay unanswered. The
// next turn cancels a turn without an end.
// There is no clock: a response comes two seconds after the one before it, because an
// unknown pace must not look hasty. Any other step is one millisecond later.

import { accumulator } from '../../services/accumulator/reducer.ts'
import { conversation as conversationStage } from '../../services/conversation/reducer.ts'
import { executor } from '../../services/executor/reducer.ts'
import type { ToolTask } from '../../services/executor/tasks.ts'
import { type AttemptTask, llmGateway } from '../../services/llm-gateway/reducer.ts'
import { loopDetector } from '../../services/loop-detector/reducer.ts'
import { validator } from '../../services/validator/reducer.ts'
import { codec } from '../../shared/codec/codec.ts'
import { resultWith, unseenResult } from '../../shared/contract/call/call-endings.ts'
import { errorLine } from '../../shared/contract/call/error-line.ts'
import { roundIdOf, type SentMessage, tryIdOf } from '../../shared/contract/ids.ts'
import type { AgentSettings, CallResult, Declaration } from '../../shared/contract/messages.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { version } from '../../shared/lib/version.ts'
import {
  createPlayer,
  type PlayedLog,
  type PlayedRecord,
  type Player,
} from '../../shared/runtime/in-memory.ts'
import {
  calledIn,
  eventsOf,
  stopOf,
  type Transcript,
  type TranscriptResponse,
  type TranscriptResult,
  type TranscriptTurn,
} from '../../shared/transcript/transcript.ts'
import { madeUpSettings, unknownPaceMs } from './made-up-settings.ts'

export type TranscriptPlayer = {
  /** Returns the records of a transcript in the order of writing. Their topics have no prefix. */
  play(transcript: Transcript): Promise<Played>
}

/**
 * `late`: responses after the end of their turn. `unanswered`: calls without a result. `unknown`:
 * those after which the model went on.
 */
export type Played = {
  records: readonly PlayedRecord[]
  late: number
  unanswered: number
  unknown: number
}

const agent = 'transcript'
const owner = 'transcript'

/**
 * `pause` is called after each step with the number of its responses. An error of it ends the
 * playing. `settings` and `ending` give the course of a live run, as tests compare it.
 */
export type TranscriptPlayerOptions = {
  topicPrefix: string
  startAt: Milliseconds
  pause: (responses: number) => Promise<void>
  settings?: AgentSettings
  ending?: Ending
}

/** Makes the result of a call from its recorded text. */
export type Ending = (
  text: string,
  isError: boolean,
) => Pick<CallResult, 'status' | 'text' | 'reason'>

/** All transcripts share one partition. Offsets and time continue from one to the next. */
export function createTranscriptPlayer({
  topicPrefix,
  startAt,
  pause,
  settings = madeUpSettings,
  ending = recordedEnding,
}: TranscriptPlayerOptions): TranscriptPlayer {
  const log: PlayedLog = { now: startAt, ends: new Map() }
  return { play: (transcript) => playOf(log, { topicPrefix, pause, settings, ending })(transcript) }
}

/** Plays one transcript alone, because a file can hold more transcripts than fit into memory. */
function playOf(
  log: PlayedLog,
  { topicPrefix, pause, settings, ending }: Required<Omit<TranscriptPlayerOptions, 'startAt'>>,
): TranscriptPlayer['play'] {
  const player = createPlayer({ log, topicPrefix, codec })
  const conversations = player.add(conversationStage)
  const gateway = player.add(llmGateway)
  player.add(accumulator)
  player.add(validator)
  player.add(loopDetector)
  const tools = player.add(executor)

  /** Plays one turn as far as possible. Returns the number of responses left. */
  async function playTurn(
    { conversation, messageId }: SentMessage,
    turn: TranscriptTurn,
    declarations: Declaration[],
  ): Promise<number> {
    player.append('conversation-events', {
      type: 'user-message',
      conversation,
      messageId,
      text: turn.user,
      agent,
      settings,
      declarations,
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
        log.now += unknownPaceMs
        answer(player, { ...task, response, declared: declarations, policy: settings.policy })
        isMoving = true
      }
      for (const tool of tools.tasks(conversation)) {
        if (tool.kind !== 'claim' && tool.kind !== 'run') continue
        const result = rounds.get(tool.round)?.calls[tool.ordinal]?.result
        if (result === undefined) continue
        runTool(player, tool, result, ending)
        isMoving = true
      }
      await player.settle()
      await pause(response === undefined ? 0 : 1)
    }
    return left.length
  }

  return async ({ conversation, turns, tools: listed }) => {
    const declarations = listed ?? calledIn(turns.flatMap(({ responses }) => responses))
    let late = 0
    for (const [at, turn] of turns.entries()) {
      const isOpen = conversations.units.get(conversation)?.state.phase === 'open'
      if (isOpen)
        player.append('conversation-events', {
          type: 'cancel-requested',
          conversation,
          messageId: messageIdOf(at - 1),
        })
      await player.settle()
      late += await playTurn({ conversation, messageId: messageIdOf(at) }, turn, declarations)
    }
    const results = turns.flatMap(({ responses }) =>
      responses.flatMap(({ calls }) => calls.map(({ result }) => result)),
    )
    const having = (kind: TranscriptResult | undefined) =>
      results.filter((result) => result === kind).length
    return {
      records: player.records,
      late,
      unanswered: having(undefined),
      unknown: having('unknown'),
    }
  }
}

type Answer = Pick<AttemptTask, 'request'> &
  Pick<AgentSettings, 'policy'> & { response: TranscriptResponse; declared: Declaration[] }

function answer(player: Player, { request, response, declared, policy }: Answer): void {
  const place = roundIdOf(request)
  const attempt = `${place.conversation} ${place.turn} ${place.round}`
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
    policy,
    // A transcript does not state the use of text calls by its agent.
    callsAsText: false,
    textCalls: null,
    echoOf: null,
    rest: [],
  }
  player.append('model-requests', { type: 'attempt-finished', ...place, ...finished })
}

function runTool(player: Player, task: ToolTask, recorded: TranscriptResult, ending: Ending): void {
  const place = tryIdOf(task)
  if (task.kind === 'claim') player.append('rounds-cleared', { type: 'claim', ...place, owner })
  else
    player.append('rounds-cleared', {
      type: 'outcome',
      ...place,
      owner,
      result: resultOf(task.ordinal, recorded, ending),
      goesOn: null,
    })
}

function messageIdOf(turn: number): string {
  return `message ${turn + 1}`
}

function resultOf(ordinal: number, result: TranscriptResult, ending: Ending): CallResult {
  return resultWith(
    ordinal,
    result === 'unknown'
      ? unseenResult('no result in the transcript')
      : ending(result.text, result.isError),
  )
}

function recordedEnding(text: string, isError: boolean): ReturnType<Ending> {
  const reason = isError ? (errorLine(text) ?? 'it failed and said nothing') : ''
  return { status: isError ? 'error' : 'ok', text, reason }
}
