import { describe, expect, it } from '@jest/globals'
import { selectedStages, stagesWithAgents } from '../../../apps/service/selected-stages.ts'
import { stageNames } from '../../../shared/contract/topology.ts'

describe('the stages of weir up', () => {
  it('are all by default', () => expect(selectedStages(undefined)).toEqual(stageNames))

  it('are the named ones, each once, in any order and with any blanks', () =>
    expect(selectedStages(' executor,validator, executor,')).toEqual(['validator', 'executor']))

  it.each([
    ['validatr', "unknown stage 'validatr' (--stages). Did you mean validator?"],
    ['gateway', "unknown stage 'gateway' (--stages). Did you mean llm-gateway?"],
    ['loop_detector', "unknown stage 'loop_detector' (--stages). Did you mean loop-detector?"],
    [
      'validator,quux',
      "unknown stage 'quux' (--stages). Stages: intake, conversation, guest, llm-gateway, accumulator, validator, loop-detector, executor, approval",
    ],
    [
      '',
      '--stages names no stage. Stages: intake, conversation, guest, llm-gateway, accumulator, validator, loop-detector, executor, approval',
    ],
  ])('refuse %j with the nearest name', (list, message) => {
    expect(() => selectedStages(list)).toThrow(expect.objectContaining({ code: 'usage', message }))
  })

  it('need agent files only for llm-gateway and executor', () => {
    expect(stagesWithAgents(stageNames)).toEqual(['llm-gateway', 'executor'])
    expect(stagesWithAgents(['validator', 'conversation'])).toEqual([])
  })
})
