// The registry of guards, open for a command that changes it: on Kafka at any time, on the embedded bus while no other process has the data folder.

import type { Bus } from '../../../shared/bus/port.ts'
import { WeirError } from '../../../shared/errors.ts'
import type { Registry } from '../../../shared/guards/register.ts'
import { createLog } from '../../../shared/log.ts'
import type { Settings } from '../../../shared/settings.ts'
import { openBus, partitionCount } from '../../open-bus.ts'

/** Somebody waits for it. */
const connectMs = 10_000

/** Opens the bus for `work`, and closes it whatever happens. */
export async function withRegistry<T>(settings: Settings, work: (registry: Registry & { bus: Bus }) => Promise<T>): Promise<T> {
  const { topicPrefix } = settings
  const bus = await openBus(settings, createLog({ level: settings.logLevel }), { connectMs, keepsTables: false }).catch(
    (error: unknown) => {
      throw error instanceof WeirError && error.code === 'bus.locked' ? inUse(settings.dataFolder, error) : error
    },
  )
  try {
    await partitionCount(bus, topicPrefix) // or it says that there are no topics
    return await work({ bus, topicPrefix })
  } finally {
    await bus.close()
  }
}

function inUse(dataFolder: string, cause: WeirError): WeirError {
  const holder = /process \d+/.exec(cause.message)?.[0] ?? 'another process'
  const advice =
    'The embedded bus has one writer: stop it, or start it anew with the guards and the mode that you want (weir up --guards FOLDER --guard-mode MODE)'
  return new WeirError('bus.locked', `the data folder ${dataFolder} is in use by ${holder}. ${advice}`, { cause })
}
