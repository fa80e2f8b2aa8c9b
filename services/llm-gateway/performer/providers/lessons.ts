// The lessons of a process about its agents' providers: changes to a request without which the
// provider refuses it. A lesson makes the next request right at once. Nothing depends on it: without
// one, a request is refused once and then changed.
//
// A lesson needs a refusal that names its subject and then a changed request that
// succeeds. It ends if a changed request is refused, or if an unchanged one succeeds.

import type { Agent } from '../../../../shared/agents/agents.ts'

/**
 * A request and its outcome. `isApplied`: it was changed. `named`: it is refused, and the refusal
 * names the subject. `refused`: it is refused for an unknown reason.
 */
export type Experience<Topic> = {
  agent: Agent
  topic: Topic
  isApplied: boolean
  outcome: 'accepted' | 'named' | 'refused'
}

export type Lessons<Topic> = {
  /** Whether the provider accepts such a request only with this change. */
  has(agent: Agent, topic: Topic): boolean
  note(experience: Experience<Topic>): void
}

export function createLessons<Topic>(): Lessons<Topic> {
  const byAgent = new WeakMap<Agent, Map<Topic, 'refused' | 'learned'>>()
  return {
    has: (agent, topic) => byAgent.get(agent)?.get(topic) === 'learned',
    note({ agent, topic, isApplied, outcome }) {
      const known = byAgent.get(agent) ?? new Map<Topic, 'refused' | 'learned'>()
      byAgent.set(agent, known)
      if (outcome === 'accepted') {
        if (!isApplied) known.delete(topic)
        else if (known.has(topic)) known.set(topic, 'learned')
      } else if (isApplied) known.delete(topic)
      else if (outcome === 'named' && !known.has(topic)) known.set(topic, 'refused')
    },
  }
}
