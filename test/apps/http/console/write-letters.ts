// Dead letters for tests of the console: of bytes that are no record, and of a message in a wrong
// partition, which a stage refuses.

import { withExistingRegistry } from '../../../../apps/history/registry.ts'
import { openEmbeddedBus } from '../../../../shared/bus/embedded/bus.ts'
import { logFileIn } from '../../../../shared/bus/embedded/file/log-file.ts'
import { encode } from '../../../../shared/codec/codec.ts'
import type { DeadLetter } from '../../../../shared/contract/messages.ts'
import { partitionOf } from '../../../../shared/contract/partition.ts'
import { topicSpecs } from '../../../../shared/contract/retention.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { readSettings } from '../../../../shared/settings/settings.ts'
import { userMessage } from '../../../support/messages.ts'
import { consolePartitions } from './console-server.ts'

const ofBytes: DeadLetter = {
  type: 'dead-letter',
  topic: 'weir.client-messages',
  partition: 0,
  offset: 9,
  time: 0,
  key: 'x',
  stage: 'intake',
  code: 'codec.bad-frame',
  reason: 'no record',
  value: Buffer.from('no record'),
}

/** Before Weir opens the folder: a letter of bytes. */
export async function writeLetterOfBytes(folder: string): Promise<void> {
  const file = logFileIn(folder)
  const bus = await openEmbeddedBus({ file, clock: systemClock })
  await bus.ensureTopics(topicSpecs('weir.', consolePartitions))
  const value = encode(ofBytes)
  await bus.append([{ topic: 'weir.dead-letters', partition: 0, key: 'x', value }])
  await bus.close()
}

/** Next to a running Weir: a message for the agent `helper`, in a wrong partition. */
export async function writeMisplacedMessage(
  folder: string,
  { conversation, text }: { conversation: string; text: string },
): Promise<void> {
  const message = userMessage({ conversation, messageId: 'm1', text, agent: 'helper' })
  const partition = (partitionOf(conversation, consolePartitions) + 1) % consolePartitions
  const record = { topic: 'weir.client-messages', partition, key: conversation }
  await withExistingRegistry(readSettings({ dataFolder: folder }, {}), ({ bus }) =>
    bus.append([{ ...record, value: encode(message) }]),
  )
}
