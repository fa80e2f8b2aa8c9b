// Encryption: a log with encrypted records shows no text of a message, an argument or a result, in no
// topic, value, key or header. A record without the mark of content is encrypted too, unless its topic or
// its type has no content.

import { addressOf, type Checker, type Finding, type Logged } from '../../evidence.ts'

export const noReadableContent: Checker<'isEncrypted'> = {
  name: 'no-readable-content',
  rule: 'With encryption, no stored byte shows content, and each record that can have content is encrypted.',
  needs: ['isEncrypted'],
  check({ records }) {
    return records.flatMap((record): Finding[] => {
      if (record.isForeign === true) return []
      const at = addressOf(record)
      if (record.showsContent === true) return [{ problem: 'its stored bytes show content', at }]
      if (record.encryptedWith !== undefined || !canHaveContent(record)) return []
      return [{ problem: `${record.message?.type} is not encrypted`, at }]
    })
  },
}

/** docs/operate/data.md lists the readable records. */
function canHaveContent({ topic, key, message }: Logged): boolean {
  if (message === undefined || topic === 'policies' || topic === 'budgets') return false
  const isOfOperator = topic === 'audit' && key === ''
  return !isOfOperator && message.type !== 'tick' && message.type !== 'conversation-forgotten'
}
