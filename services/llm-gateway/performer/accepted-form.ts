// The form of a request that its provider accepts. A provider may refuse a request for its form: it
// forbids calls, its history is unpaired, or the provider wants other reasoning. The round then
// sends it once more in the form that answers the refusal (reducer.ts).
// Owns: the choice of the form, and the facts about a refusal for the log. Does not own: the forms
// (providers/plain-request.ts, the messages of each provider), the meaning of a refusal
// (shared/wire/faults).

import type { Agent } from '../../../shared/agents/agents.ts'
import type {
  AttemptFailed,
  HistoryEntry,
  ReasoningRefusal,
} from '../../../shared/contract/messages.ts'
import type { Failed, ProviderRequest } from '../../../shared/wire/exchange.ts'
import type { AttemptTask } from '../reducer.ts'
import { createLessons, type Lessons } from './providers/lessons.ts'
import { inPlainText, type Obstacle, obstacleIn } from './providers/plain-request.ts'

/** A refusal that describes the provider, not one conversation. */
type LearnedRefusal = Exclude<ReasoningRefusal, 'none' | 'damaged'>

const learnedRefusals: LearnedRefusal[] = ['missing', 'unsigned', 'unaccepted']

/** The lessons of a process. */
export type AcceptedForms = { plain: Lessons<Obstacle>; reasoning: Lessons<LearnedRefusal> }

export function createAcceptedForms(): AcceptedForms {
  return { plain: createLessons(), reasoning: createLessons() }
}

/**
 * A request as sent. `obstacle`: the part of it that the provider may refuse. `isPlain`: it is in
 * plain text for that reason. `reasoningRefused`: the refusal that its reasoning answers.
 */
export type SentRequest = {
  agent: Agent
  request: ProviderRequest
  obstacle: Obstacle | undefined
  isPlain: boolean
  reasoningRefused: ReasoningRefusal
}

type Prepared = Pick<SentRequest, 'agent' | 'request'>

export function inAcceptedForm(
  forms: AcceptedForms,
  task: AttemptTask,
  { agent, request }: Prepared,
): SentRequest {
  const obstacle = obstacleIn(agent, request)
  const isPlain = obstacle !== undefined && (task.plain || forms.plain.has(agent, obstacle))
  const learned = learnedRefusals.find((refusal) => forms.reasoning.has(agent, refusal))
  const reasoningRefused: ReasoningRefusal =
    task.reasoningRefused === 'none' ? (learned ?? 'none') : task.reasoningRefused
  const formed = isPlain ? inPlainText(request) : request
  const sent = reasoningRefused === 'none' ? formed : { ...formed, reasoningRefused }
  return { agent, request: sent, obstacle, isPlain, reasoningRefused }
}

/** Learns from the outcome of a request. */
export function noteOutcome(
  { plain, reasoning }: AcceptedForms,
  { agent, obstacle, isPlain, reasoningRefused: applied }: SentRequest,
  answer: Failed | { kind: 'finished' },
): void {
  const isAccepted = answer.kind === 'finished'
  if (obstacle !== undefined) {
    const named = answer.kind === 'failed' ? answer.formRefused : undefined
    const refused = named === 'tools' ? 'named' : 'refused'
    if (isAccepted || named !== undefined)
      plain.note({
        agent,
        topic: obstacle,
        isApplied: isPlain,
        outcome: isAccepted ? 'accepted' : refused,
      })
  }
  const refusal = answer.kind === 'failed' ? answer.reasoningRefused : undefined
  for (const topic of learnedRefusals) {
    const isApplied = applied === topic
    // A refusal of another kind shows that the change was wrong, too.
    if (isAccepted) reasoning.note({ agent, topic, isApplied, outcome: 'accepted' })
    else if (refusal !== undefined && (isApplied || refusal === topic))
      reasoning.note({ agent, topic, isApplied, outcome: 'named' })
  }
}

/** Explains whether a refused request is sent once more. */
const reasons = {
  history: 'the history of this conversation is refused, and sent once more, rebuilt',
  historyAgain:
    'the history of this conversation is refused, also rebuilt; begin a new conversation',
  reasoning: 'the reasoning in the history is refused, and the history is sent once more otherwise',
  reasoningAgain:
    'the reasoning in the history is refused, also in another form; begin a new conversation',
  tools: 'the request is refused, and sent once more in plain text, without tools',
  toolsAgain: 'the request is refused, also in plain text and without tools',
}

/**
 * The refusals that the next attempt answers, each once a round, and the reasons for people. Of
 * reasoning and tools it answers the reasoning first, because that refusal is more specific.
 */
export function refusedParts(
  task: AttemptTask,
  failed: Failed,
  sent: SentRequest | undefined,
): Pick<AttemptFailed, 'historyRefused' | 'toolsRefused' | 'reasoningRefused'> & { why: string[] } {
  const isOfHistory = failed.historyRefused ?? false
  const historyRefused = isOfHistory && !task.rebuilt
  const refusal = failed.reasoningRefused ?? 'none'
  const isAnswered =
    sent !== undefined &&
    task.reasoningRefused === 'none' &&
    refusal !== sent.reasoningRefused &&
    isAnswerable(refusal, sent.request.history)
  const reasoningRefused = isAnswered ? refusal : 'none'
  const isOfTools = !isAnswered && failed.formRefused !== undefined && sent?.obstacle !== undefined
  const toolsRefused = isOfTools && !sent.isPlain
  const why = [
    ...(isOfHistory ? [historyRefused ? reasons.history : reasons.historyAgain] : []),
    ...(isAnswered ? [reasons.reasoning] : []),
    ...(refusal !== 'none' && !isAnswered && !toolsRefused ? [reasons.reasoningAgain] : []),
    ...(isOfTools ? [toolsRefused ? reasons.tools : reasons.toolsAgain] : []),
  ]
  return { historyRefused, toolsRefused, reasoningRefused, why }
}

/** Whether the request differs in the form that answers this refusal. */
export function isAnswerable(refusal: ReasoningRefusal, history: HistoryEntry[]): boolean {
  if (refusal === 'none') return false
  const isFilled = refusal === 'missing' || refusal === 'unsigned'
  return history.some(
    ({ response }) => response !== null && (isFilled || response.reasoning !== ''),
  )
}
