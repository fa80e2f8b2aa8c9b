// Selects the rounds to show: by their result and by a text. Pure.

import type { ShownRound } from '../data.ts'

export const kinds = ['all', 'stopped', 'failed', 'interventions'] as const
export type Kind = (typeof kinds)[number]

/** `query`: the text of the field. */
export type Search = { kind: Kind; query: string }

export const everything: Search = { kind: 'all', query: '' }

/** False: every round matches. */
export function isSearch({ kind, query }: Search): boolean {
  return kind !== 'all' || wordsIn(query).length > 0
}

export function isOfKind(round: ShownRound, kind: Kind): boolean {
  const statuses = round.calls.map(({ result }) => result?.status)
  switch (kind) {
    case 'all':
      return true
    case 'stopped':
      return statuses.some((status) => status === 'denied')
    case 'failed':
      return (
        round.failure !== null ||
        statuses.some(
          (status) => status === 'error' || status === 'timed_out' || status === 'unknown',
        )
      )
    case 'interventions':
      return round.intervention !== null
  }
}

/** True: the round contains each word, in upper or lower case. */
export function hasWords(round: ShownRound, words: string[]): boolean {
  return (
    words.length === 0 ||
    words.every((word) => textsOf(round).some((text) => text.toLowerCase().includes(word)))
  )
}

export function wordsIn(query: string): string[] {
  return query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
}

function textsOf({ response, calls, intervention, failure, note, guards }: ShownRound): string[] {
  return [
    response?.text ?? '',
    note ?? '',
    failure?.reason ?? '',
    ...(intervention === null ? [] : [intervention.rule, intervention.reason]),
    ...calls.flatMap(({ name, rawArguments, result }) => [
      name,
      rawArguments,
      result?.status ?? '',
      result?.reason ?? '',
      result?.text ?? '',
    ]),
    ...guards.flatMap(({ name, calls }) => [
      name,
      ...calls.flatMap(({ code, text }) => [code, text]),
    ]),
  ]
}
