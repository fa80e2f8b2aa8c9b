// The stops in the table `policies`: one record for each scope.

import { decode } from '../../../shared/codec/codec.ts'
import type { Bus, StoredRecord } from '../../../shared/contract/bus.ts'
import type { OperatorStop } from '../../../shared/contract/messages.ts'
import { stopKeyPrefix } from '../../../shared/contract/topology.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { removedSettings } from '../../../shared/runtime/settings/removed-settings.ts'

type Table = { bus: Pick<Bus, 'list'>; topicPrefix: string }

/** `stop` undefined: the record cannot be read. While it is there, nothing starts. */
export type StoredStop = { id: string; stop: OperatorStop | undefined }

/** In the order of their ids, as the table is at the call. */
export async function storedStops({ bus, topicPrefix }: Table): Promise<StoredStop[]> {
  const records = await bus.list({
    topic: `${topicPrefix}policies`,
    partition: 0,
    prefix: stopKeyPrefix,
    upToNow: true,
  })
  return records
    .map((record) => ({ id: record.key.slice(stopKeyPrefix.length), stop: stopIn(record) }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

function stopIn({ value }: StoredRecord): OperatorStop | undefined {
  try {
    const message = value === null ? undefined : decode(value)
    return message?.type === 'operator-stop' ? message : undefined
  } catch {
    return undefined
  }
}

export async function storeStop(
  { bus, topicPrefix }: { bus: Pick<Bus, 'append' | 'clock'>; topicPrefix: string },
  stop: Omit<OperatorStop, 'type' | 'setAt'>,
): Promise<void> {
  const message: OperatorStop = { type: 'operator-stop', ...stop, setAt: bus.clock.now() }
  await bus.append([toRecord({ topic: `${topicPrefix}policies`, partition: 0, message })])
}

/** The newest releases first. `id`: of the stop. */
export async function releasedStops(table: Table): Promise<ReleasedStop[]> {
  return (await removedSettings(table)).flatMap(({ setting, setBy, setAt }) =>
    setting.startsWith(stopKeyPrefix)
      ? [{ id: setting.slice(stopKeyPrefix.length), releasedBy: setBy, releasedAt: setAt }]
      : [],
  )
}

export type ReleasedStop = { id: string; releasedBy: string; releasedAt: number }
