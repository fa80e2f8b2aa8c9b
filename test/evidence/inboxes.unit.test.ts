// The chaos run's own list of stages matches the topology.

import { expect, it } from '@jest/globals'
import { stageNames, stages } from '../../shared/contract/topology.ts'
import { inboxes } from './inboxes.ts'

it('the chaos run knows every stage and its inbox', () => {
  expect(inboxes).toEqual(Object.fromEntries(stageNames.map((name) => [name, stages[name].inbox])))
})
