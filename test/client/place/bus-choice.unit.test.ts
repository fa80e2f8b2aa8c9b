// The options of a program and the settings of a command name the same bus.

import { expect, it } from '@jest/globals'
import { whichBus } from '../../../apps/cli/commands/flags.ts'
import { optionsOfSettings, settingsOf } from '../../../client/weir-options.ts'
import { readSettings } from '../../../shared/settings/settings.ts'

it.each([{ encryptionKeys: 'keys.json' }, { encryptionCommand: 'print keys' }])(
  'weir ask opens the bus with each setting that selects it, such as %j',
  (encryption) => {
    const flags = {
      bus: 'kafka',
      bootstrapServer: 'kafka:9092',
      commandConfig: 'client.properties',
      commandProperty: ['client.id=a', 'sasl.mechanism=PLAIN'],
      plaintextPassword: 'allow',
      recordSigning: 'keys/edge.json',
      dataFolder: 'data',
      ...encryption,
      traceHeaders: 'on' as const,
    }
    const settings = readSettings(flags, {})
    const again = settingsOf({ agents: [], ...optionsOfSettings(settings) })
    for (const key of whichBus.filter(
      (one) => !one.startsWith('encryption') || one in encryption,
    )) {
      expect([key, settings[key]]).not.toEqual([key, readSettings({}, {})[key]])
      expect([key, again[key]]).toEqual([key, settings[key]])
    }
  },
)
