// Violations that a test plants in a sound run. A rule that never reports anything proves nothing.

import { expect, it } from '@jest/globals'
import type { MessageType } from '../../../shared/contract/messages.ts'
import { check } from '../check.ts'
import type { Evidence, Logged } from '../evidence.ts'
import type { ChaosEvidence } from './sound-run.ts'

export type Planted = [name: string, plant: (evidence: ChaosEvidence) => void, expected: string]

/** By list of planted violations, the rules that find them. Canaries find the others. */
export const plantedRules = {
  agents: [
    'readable',
    'processes-go-on',
    'one-content-per-id',
    'commits',
    'shadow-only-reports',
    'messages-end',
    'one-result-per-call',
    'whole-model-answers',
    'starts',
  ],
  guards: ['denied-never-start', 'guards-decide', 'guard-answers', 'stamps', 'absent-guards'],
  guests: ['guest-rounds', 'guest-runs', 'guest-offer-once', 'guest-result-own', 'guest-advice'],
  approvals: ['approvals'],
  others: [
    'budget-kept',
    'no-start-after-stop',
    'no-readable-content',
    'unknown-explained',
    'tree-caps',
    'tree-sums',
    'provider-limits',
    'guest-trees',
  ],
}

/** `rules`: those that report at least one of the violations. */
export function itReports(sound: () => ChaosEvidence, planted: Planted[], rules: string[]): void {
  it.each(planted)('reports %s', async (_, plant, expected) => {
    const evidence = sound()
    plant(evidence)
    expect(await problemsIn(evidence)).toContainEqual(expect.stringContaining(expected))
  })

  it(`reports them by ${rules.join(', ')}`, async () => {
    const reporting = new Set<string>()
    for (const [, plant, expected] of planted) {
      const evidence = sound()
      plant(evidence)
      for (const { checker, problem } of await check(evidence))
        if (problem.includes(expected)) reporting.add(checker)
    }
    expect([...reporting]).toEqual(expect.arrayContaining(rules))
  })
}

export async function problemsIn(evidence: Evidence): Promise<string[]> {
  return (await check(evidence)).map(({ problem }) => problem)
}

type Where = { topic?: string; type?: MessageType; offset?: number; nth?: number }

/** The record at this place: of a type, in a topic, at an offset. */
export function recordAt({ records }: Evidence, { topic, type, offset, nth = 0 }: Where): Logged {
  const found = records.filter(
    (record) =>
      (topic === undefined || record.topic === topic) &&
      (type === undefined || record.message?.type === type) &&
      (offset === undefined || record.offset === offset),
  )[nth]
  if (found === undefined) throw new Error(`there is no ${topic} ${type} ${offset}`)
  return found
}

export function fieldsAt(evidence: Evidence, where: Where): Record<string, unknown> {
  return recordAt(evidence, where).message as unknown as Record<string, unknown>
}

export function removeAt(evidence: Evidence, where: Where): void {
  const gone = recordAt(evidence, where)
  evidence.records = evidence.records.filter((record) => record !== gone)
}

/** A copy of the record with these changes, after all others. */
export function repeatAt(
  evidence: Evidence,
  where: Where,
  changes: { record?: Partial<Logged>; message?: object },
): void {
  const { message, ...record } = recordAt(evidence, where)
  const copy = { ...structuredClone(message as object), ...changes.message }
  const digest = changes.message === undefined ? record.digest : JSON.stringify(copy)
  evidence.records.push({
    ...record,
    offset: 90,
    digest,
    message: copy as never,
    ...changes.record,
  })
}
