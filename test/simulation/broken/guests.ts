// Fronts and stages that break a rule of guests. All other parts are real.

import type { Front, RoundVerdicts, ShownRound } from '../../../client/guard/front.ts'
import type { GuestCallVerdict, Message } from '../../../shared/contract/messages.ts'
import { closed, type Reaction, type Received, type Stage } from '../../../shared/contract/stage.ts'
import { guestOwner } from '../../../shared/contract/topology.ts'
import { hashOfKey } from '../../../shared/transcript/round-key.ts'
import { realEntries, realSystem, type System } from '../system.ts'

function withFront(name: string, front: (real: Front) => Front): System {
  return { ...realSystem, name, front }
}

/** The front with another key for each round. `place`: from 1. */
function withKeys(real: Front, keyOf: (key: string, place: number) => string): Front {
  const shown = new Map<string, number>()
  const named = (turn: { conversation: string; turnKey: string }) =>
    JSON.stringify([turn.conversation, turn.turnKey])
  return {
    ...real,
    beforeModel(turn, { rounds, hiddenKeys }, wait) {
      shown.set(named(turn), rounds.length)
      const changed = rounds.map((round, i): ShownRound => {
        const key = keyOf(round.key, i + 1)
        return { ...round, key, results: round.results.map((result) => ({ ...result, key })) }
      })
      return real.beforeModel(turn, { rounds: changed, hiddenKeys: hiddenKeys ?? [] }, wait)
    },
    proposeRound: (turn, round, wait) =>
      real.proposeRound(
        turn,
        { ...round, key: keyOf(round.key, (shown.get(named(turn)) ?? 0) + 1) },
        wait,
      ),
  }
}

/** Breaks G1: the same words are one round. */
export const keyWithoutCount = withFront('the key of a round has no count', (real) =>
  withKeys(real, (key) => `${hashOfKey(key)}.1`),
)

/** Breaks G1: the place in the history is the identity. */
export const keyByPosition = withFront('the key of a round is its position', (real) =>
  withKeys(real, (_, place) => `${'0'.repeat(32)}.${place}`),
)

/** Breaks FRONT-3: a verdict on an earlier call with the same id counts. */
export const verdictByCallId = withFront('a verdict is known by its call id', (real) => {
  const seen = new Map<string, GuestCallVerdict>()
  return {
    ...real,
    async proposeRound(turn, round, wait) {
      const nameOf = (id: string) => JSON.stringify([turn.conversation, id])
      const known = round.response.calls.flatMap(({ id, ordinal }) => {
        const verdict = seen.get(nameOf(id))
        return verdict === undefined ? [] : [{ ...verdict, ordinal }]
      })
      const made = real.proposeRound(turn, round, wait)
      if (known.length > 0 && known.length === round.response.calls.length) {
        made.catch(() => {})
        const verdicts: RoundVerdicts = {
          calls: known,
          pending: [],
          place: undefined,
          isSettled: true,
          notCounted: undefined,
        }
        return verdicts
      }
      const verdicts = await made
      for (const verdict of verdicts?.calls ?? []) seen.set(nameOf(verdict.callId), verdict)
      return verdicts
    },
  }
})

/** Breaks GUEST-1: the stage remembers no keys. */
export const forgetsKeys = withGuest('the keys of rounds are forgotten', (stage) => ({
  ...stage,
  react(state, record) {
    if (record.message.type === 'guest-round') state?.turn?.known.clear()
    return stage.react(state, record)
  },
}))

/** Breaks G5: a request is answered before its last round is judged. */
export const answersAtOnce = withGuest('a request is answered at once', (stage) => ({
  ...stage,
  react(state, record) {
    const { message } = record
    return message.type === 'guest-results' && message.phase === 'before_model'
      ? stage.react(state, { ...record, message: { ...message, keys: [] } })
      : stage.react(state, record)
  },
}))

/** Breaks E8: an outcome that overtakes its round is dropped. */
export const dropsEarlyOutcomes: System = {
  ...realSystem,
  name: 'an early outcome is dropped',
  entries(parts) {
    const entries = realEntries(parts)
    const { stage } = entries.executor
    return {
      ...entries,
      executor: {
        ...entries.executor,
        stage: {
          ...stage,
          react(state, record) {
            const { message } = record
            if (message.type !== 'outcome' || message.owner !== guestOwner)
              return stage.react(state, record)
            const isKnown = state?.rounds.some(({ round }) => round === message.round)
            if (isKnown === true) return stage.react(state, record)
            return state === undefined ? closed : { state }
          },
        } satisfies typeof stage,
      },
    }
  },
}

type Silent<State> = { inner: State | undefined; waiting: Received<Message>[] }

/** Breaks GUEST-2: the first waiting record reports nothing until its round may begin. */
export const silentHead: System = {
  ...realSystem,
  name: 'waiting records report nothing',
  entries(parts) {
    const entries = realEntries(parts)
    const { stage } = entries.guest
    type State = Parameters<typeof stage.due>[0]
    type In = Parameters<typeof stage.react>[1]
    const silent: Stage<Silent<State>, In['message']> = {
      ...stage,
      wants: () => [],
      due: ({ inner }) => (inner === undefined ? undefined : stage.due(inner)),
      failed: () => closed,
      react(state, record): Reaction<Silent<State>> {
        const waiting = state?.waiting ?? []
        const { type } = record.message
        const isFront = type === 'guest-round' || type === 'guest-results'
        if (isFront && state?.inner?.turn?.outstanding !== undefined)
          return { state: { inner: state.inner, waiting: [...waiting, record] } }
        let reaction = stage.react(state?.inner, record)
        const records = [...(reaction.records ?? [])]
        while (waiting.length > 0 && reaction.state?.turn?.outstanding === undefined) {
          const next = waiting.shift() as In
          reaction = stage.react(reaction.state, { ...next, time: record.time })
          records.push(...(reaction.records ?? []))
        }
        return reaction.state === undefined
          ? { ...(reaction as Reaction<never>), records }
          : { ...reaction, records, state: { inner: reaction.state, waiting } }
      },
    }
    return { ...entries, guest: { ...entries.guest, stage: silent as unknown as typeof stage } }
  },
}

type GuestStage = ReturnType<typeof realEntries>['guest']['stage']

function withGuest(name: string, change: (stage: GuestStage) => GuestStage): System {
  return {
    ...realSystem,
    name,
    entries(parts) {
      const entries = realEntries(parts)
      return { ...entries, guest: { ...entries.guest, stage: change(entries.guest.stage) } }
    },
  }
}
