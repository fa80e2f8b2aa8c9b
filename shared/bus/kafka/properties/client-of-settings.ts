// The options of Kafka's client, from the settings.

import type { BusSettings } from '../../kind.ts'
import type { ClientConfig } from './client-properties.ts'

/** `onIgnored`: gets a sentence for each ignored property. Throws `settings.invalid`. */
export async function kafkaClient(
  { bootstrapServer, commandConfig, commandProperty, plaintextPassword }: BusSettings,
  onIgnored: (note: string) => void = () => {},
): Promise<ClientConfig> {
  const { readClientProperties } = await import('./client-properties.ts')
  return readClientProperties({
    file: commandConfig === '' ? undefined : commandConfig,
    overrides: commandProperty,
    bootstrapServer: bootstrapServer === '' ? undefined : bootstrapServer,
    plaintextPassword,
    onIgnored,
  })
}
