// The folder of guests' files.

import { expect, it } from '@jest/globals'
import { otherPlaceThan } from '../../../client/guard/guest-place.ts'

it('a warning names WEIR_AGENTS if the agent files of the process are in another folder', () => {
  const warning = (agents: string, variable?: string) =>
    otherPlaceThan(agents, variable === undefined ? {} : { WEIR_AGENTS: variable })
  expect(warning('agents', 'others')).toContain('WEIR_AGENTS names others')
  for (const [agents, variable] of [['agents'], ['agents', './agents'], ['', 'others']])
    expect(warning(agents ?? '', variable)).toBeUndefined()
})
