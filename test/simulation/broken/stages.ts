// Stages that break one of their rules. All other parts are real.

import type { Message, ModelFinished, Part } from '../../../shared/contract/messages.ts'
import {
  closed,
  type Output,
  type Reaction,
  type Received,
  type Stage,
} from '../../../shared/contract/stage.ts'
import { type Entries, realEntries, realSystem, type System } from '../system.ts'

function withStages(name: string, change: (entries: Entries) => Partial<Entries>): System {
  return {
    ...realSystem,
    name,
    entries(parts) {
      const entries = realEntries(parts)
      return { ...entries, ...change(entries) }
    },
  }
}

/** The same stage with a change to each output. */
function withOutputs<State, In extends Message, Task>(
  stage: Stage<State, In, Task>,
  change: (output: Output) => Output,
): Stage<State, In, Task> {
  return {
    ...stage,
    react(state, record) {
      const reaction = stage.react(state, record)
      return { ...reaction, records: (reaction.records ?? []).map(change) }
    },
  }
}

/** Breaks R5: reports a call as skipped although an earlier try had no result. */
export const skippedThoughLapsed = withStages(
  'a lapsed call is reported as skipped',
  ({ executor }) => ({
    executor: {
      ...executor,
      stage: withOutputs(executor.stage, (output) => {
        if (output.message.type !== 'round-executed') return output
        const results = output.message.results.map((result) =>
          result.status === 'unknown' ? { ...result, status: 'skipped' as const } : result,
        )
        return { to: output.to, message: { ...output.message, results } }
      }),
    },
  }),
)

/** Breaks EXECUTOR-STOPS-1: a call that an operator stopped stays ready. */
export const forgetsStops = withStages('a stop of calls is ignored', ({ executor }) => ({
  executor: {
    ...executor,
    stage: {
      ...executor.stage,
      react: (state, record) =>
        record.message.type === 'calls-stopped' ? { state } : executor.stage.react(state, record),
    },
  },
}))

type Counted<State> = { inner: State | undefined; parts: number }

/** Breaks ACC-1: folds parts of all attempts of a round together. */
export const attemptsTogether = withStages('attempts are folded together', ({ accumulator }) => {
  type State = Parameters<typeof accumulator.stage.due>[0]
  type In = Parameters<typeof accumulator.stage.react>[1]['message']
  const { stage } = accumulator
  const together: Stage<Counted<State>, In> = {
    name: stage.name,
    unit: stage.unit,
    wants: () => [],
    due: ({ inner }) => (inner === undefined ? undefined : stage.due(inner)),
    failed: () => closed,
    react(state, record) {
      const parts = state?.parts ?? 0
      const reaction = stage.react(state?.inner, {
        ...record,
        message: joined(record.message, parts) as In,
      } as Received<In>)
      if (reaction.state === undefined) return reaction as Reaction<never>
      return {
        ...reaction,
        state: { inner: reaction.state, parts: parts + (record.message.type === 'part' ? 1 : 0) },
      }
    },
  }
  return { accumulator: { ...accumulator, stage: together as unknown as typeof stage } }
})

function joined(message: Message, parts: number): Part | ModelFinished | Message {
  if (message.type === 'part') return { ...message, attempt: 'all', i: parts }
  if (message.type === 'model-finished' && message.failure === null)
    return { ...message, attempt: 'all', parts }
  return message
}

/** Breaks CONV-1: opens a second turn for a repeated message. */
export const forgetsMessageIds = withStages('message ids are forgotten', ({ conversation }) => {
  const { stage } = conversation
  return {
    conversation: {
      stage: {
        ...stage,
        react: (state, record) => stage.react(state && { ...state, recentMessageIds: [] }, record),
      } satisfies typeof stage,
    },
  }
})

/** Breaks R1: a unit has no deadline and waits for ever if no answer comes. */
export const noDeadline = withStages('a tool has no deadline', ({ executor }) => ({
  executor: { ...executor, stage: { ...executor.stage, due: () => undefined } },
}))

/** The same in all stages that wait for it, so the turn never ends. */
export const noDeadlines = withStages(
  'neither a tool nor a round nor a turn has a deadline',
  ({ executor, conversation, ...others }) => ({
    executor: { ...executor, stage: { ...executor.stage, due: () => undefined } },
    'loop-detector': { stage: { ...others['loop-detector'].stage, due: () => undefined } },
    conversation: { stage: { ...conversation.stage, due: () => undefined } },
  }),
)

/** Breaks R2: a reducer's output depends on more than its log. */
export const countsInProcess = withStages('a reducer counts in its process', ({ validator }) => {
  let count = 0
  return {
    validator: {
      stage: withOutputs(validator.stage, (output) =>
        output.message.type === 'round-checked'
          ? {
              to: output.to,
              message: { ...output.message, agent: `${output.message.agent} ${count++}` },
            }
          : output,
      ),
    },
  }
})

/**
 * Breaks R6: a call of an expired turn can still be claimed. Neither that deadline nor its cancel
 * ends the call.
 */
export const forgetsExpiry = withStages(
  'the executor forgets when a turn expires',
  ({ executor }) => {
    const { stage } = executor
    const never = 24 * 60 * 60_000
    return {
      executor: {
        ...executor,
        stage: {
          ...stage,
          react(state, record) {
            const { message, time } = record
            if (message.type === 'cancel' && time >= message.expiresAt) return { state }
            return message.type === 'round-cleared'
              ? stage.react(state, {
                  ...record,
                  message: { ...message, expiresAt: message.expiresAt + never },
                })
              : stage.react(state, record)
          },
        } satisfies typeof stage,
      },
    }
  },
)

/** Breaks R5: a round is in the history without its results. */
export const historyWithoutResults = withStages(
  'the history leaves out results',
  ({ conversation }) => ({
    conversation: {
      stage: withOutputs(conversation.stage, (output) =>
        output.message.type === 'history-entry'
          ? {
              to: output.to,
              message: { ...output.message, results: output.message.results.slice(1) },
            }
          : output,
      ),
    },
  }),
)

/** Breaks the protocol: a cancel before its round is forgotten, so the round runs afterwards. */
export const forgetsCancel = withStages('an early cancel is forgotten', ({ executor }) => {
  const { stage } = executor
  return {
    executor: {
      ...executor,
      stage: {
        ...stage,
        react: (state, record) =>
          state === undefined && record.message.type === 'cancel'
            ? closed
            : stage.react(state, record),
      } satisfies typeof stage,
    },
  }
})

/** Breaks R6: waits for no guard. */
export const forgetsGuards = withStages(
  'the executor forgets the guards of a round',
  ({ executor }) => {
    const { stage } = executor
    return {
      executor: {
        ...executor,
        stage: {
          ...stage,
          react(state, record) {
            const { message } = record
            if (message.type !== 'round-cleared') return stage.react(state, record)
            return stage.react(state, {
              ...record,
              message: { ...message, policy: { ...message.policy, guards: [] } },
            })
          },
        } satisfies typeof stage,
      },
    }
  },
)

/** Breaks EXECUTOR-WAITING-3: a guard's request for approval is a pass. */
export const forgetsRequests = withStages(
  'the executor forgets the requests of guards for approval',
  ({ executor }) => {
    const { stage } = executor
    return {
      executor: {
        ...executor,
        stage: {
          ...stage,
          react(state, record) {
            const { message } = record
            if (message.type !== 'guard-verdict') return stage.react(state, record)
            const verdicts = message.verdicts.map((one) =>
              one.verdict === 'ask' ? { ...one, verdict: 'allow' as const } : one,
            )
            return stage.react(state, { ...record, message: { ...message, verdicts } })
          },
        } satisfies typeof stage,
      },
    }
  },
)

/** Applies a rule in shadow mode as if it were in force. */
export const forgetsShadowModes = withStages(
  'the loop-detector forgets which rules are shadows',
  ({ 'loop-detector': detector }) => ({
    'loop-detector': {
      ...detector,
      stage: {
        ...detector.stage,
        react(state, record) {
          const { message } = record
          if (message.type !== 'round-checked') return detector.stage.react(state, record)
          return detector.stage.react(state, {
            ...record,
            message: { ...message, policy: { ...message.policy, shadowed: [] } },
          })
        },
      } satisfies typeof detector.stage,
    },
  }),
)

/** Checks only the sender of an answer: every answer of a person counts as an approval. */
export const approvesRejections = withStages('a denial counts as an approval', ({ approval }) => ({
  approval: {
    stage: {
      ...approval.stage,
      react(round, record) {
        const { message } = record
        if (message.type !== 'approval-answered') return approval.stage.react(round, record)
        return approval.stage.react(round, {
          ...record,
          message: { ...message, answer: 'allow' },
        })
      },
    },
  },
}))
