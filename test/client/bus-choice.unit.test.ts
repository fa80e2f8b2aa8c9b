// A program's bus and the settings of a command name the same bus.

import { expect, it } from '@jest/globals'
import { whichBus } from '../../apps/cli/commands/flags.ts'
import { choiceOfSettings, flagsOfChoice } from '../../client/bus-choice.ts'
import { readSettings } from '../../shared/settings/settings.ts'

it('weir ask opens the bus with each setting that selects it', () => {
  const flags = {
    ...{ bus: 'kafka', bootstrapServer: 'kafka:9092', commandConfig: 'client.properties' },
    ...{ commandProperty: ['client.id=a', 'sasl.mechanism=PLAIN'], plaintextPassword: 'allow' },
    recordSigning: 'keys/edge.json',
  }
  const settings = readSettings(flags, {})
  const again = readSettings(flagsOfChoice(choiceOfSettings(settings)), {})
  // The data folder is an option beside the bus.
  for (const key of whichBus.filter((one) => one !== 'dataFolder')) {
    expect([key, settings[key]]).not.toEqual([key, readSettings({}, {})[key]])
    expect([key, again[key]]).toEqual([key, settings[key]])
  }
})
