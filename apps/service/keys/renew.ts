// `weir keys renew`: encrypts the keys of conversations with the newest keys of the tenants, and deletes
// those of conversations that are gone. Exit code 0: done. 1: some keys stay as they are.

import { guardTopicsOf, topicsOfConversations } from '../../../client/forget/unreadable.ts'
import { keysOf } from '../../../shared/bus/encryption/encrypted-kind.ts'
import { createEncryption } from '../../../shared/bus/encryption/encryption.ts'
import { type Renewed, renewKeys } from '../../../shared/bus/encryption/key-renewal.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withExistingRegistry } from '../../history/registry.ts'
import { printableJson } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'

/** Throws `usage` without keys, and in a data folder that a process writes. */
export async function renewConversationKeys(
  { json = false }: { json?: boolean },
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<0 | 1> {
  const { topicPrefix } = settings
  const keys = await keysOf(settings)
  if (keys.size === 0)
    throw usageError('give the keys of the tenants: --encryption-keys or --encryption-command')
  const kind = busKindOf(settings)
  // A deletion in a file leaves no mark that this command could find.
  if (kind.isLocal && kind.lockState(settings).kind === 'held')
    throw usageError(
      'a process writes the data folder: stop it, renew the keys, and start it again',
    )
  const encryption = createEncryption(keys, topicPrefix)
  const listGuardTopics = guardTopicsOf(settings)
  const renewed = await withExistingRegistry(settings, async (log) => {
    const topics = await topicsOfConversations({ ...log, listGuardTopics })
    return renewKeys({ ...log, topics, encryption })
  })
  out.write(json ? `${printableJson(renewed)}\n` : renewedLines(renewed))
  return renewed.unreadable === 0 ? 0 : 1
}

function renewedLines({ renewed, removed, unreadable }: Renewed): string {
  const lines = [
    `renewed ${count(renewed, 'key')} of conversations, and deleted ${count(removed, 'key')} of conversations that are gone`,
  ]
  if (unreadable > 0)
    lines.push(
      `${count(unreadable, 'key')} stay as they are, because the file lacks the keys that encrypt them: add these after the newer ones, from an older copy of the file`,
    )
  return `${lines.join('\n')}\n`
}
