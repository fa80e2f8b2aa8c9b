import { describe, expect, it } from '@jest/globals'
import { chosenStages, stagesWithAgents } from '../../../apps/service/chosen-stages.ts'
import { stageNames } from '../../../shared/contract/topology.ts'

describe('the stages of weir up', () => {
  it('are all where none is named', () => expect(chosenStages(undefined)).toEqual(stageNames))

  it('are those that are named, each once, whatever the order and the blanks', () =>
    expect(chosenStages(' executor,validator, executor,')).toEqual(['validator', 'executor']))

  it.each([
    ['validatr', "--stages: 'validatr' is no stage; did you mean validator?"],
    ['gateway', "--stages: 'gateway' is no stage; did you mean llm-gateway?"],
    ['loop_detector', "--stages: 'loop_detector' is no stage; did you mean loop-detector?"],
    [
      'validator,quux',
      "--stages: 'quux' is no stage; there are conversation, llm-gateway, accumulator, validator, loop-detector, executor, approval",
    ],
    [
      '',
      '--stages names no stage; there are conversation, llm-gateway, accumulator, validator, loop-detector, executor, approval',
    ],
  ])('are not taken from %j: it is said what was perhaps meant', (list, message) => {
    expect(() => chosenStages(list)).toThrow(expect.objectContaining({ code: 'usage', message }))
  })

  it('need agent files only where a model is asked or a tool is run', () => {
    expect(stagesWithAgents(stageNames)).toEqual(['llm-gateway', 'executor'])
    expect(stagesWithAgents(['validator', 'conversation'])).toEqual([])
  })
})
