// The passwords of command lines that a scan hides.

import { describe, expect, it } from '@jest/globals'
import { withoutPasswords } from '../../../../apps/replay/scan/hidden-passwords.ts'

const command = (text: string) => JSON.stringify({ command: text })

describe('a password in a printed text', () => {
  it.each([
    ['curl -u ann:s3cret https://a.example', 'curl -u ann:[password] https://a.example'],
    ['curl -uann:s3cret -O', 'curl -uann:[password] -O'],
    ['curl --user=ann:s3cret', 'curl --user=ann:[password]'],
    ['curl --proxy-user "ann:s3 cret" -O', 'curl --proxy-user "ann:[password]" -O'],
    ["mysql --password 's3 cret' -e 1", "mysql --password '[password]' -e 1"],
    ['mysql --password=s3cret -e 1', 'mysql --password=[password] -e 1'],
    ['tool --db-password s3\\$cret -e 1', 'tool --db-password [password] -e 1'],
    ['tool --password -u ann:s3cret', 'tool --password [password] ann:[password]'],
  ])('is hidden in %j, also as JSON', (text, shown) => {
    expect(withoutPasswords(text)).toBe(shown)
    expect(withoutPasswords(command(text))).toBe(command(shown))
  })

  it('is hidden in a list of arguments, and in a text that ends in the value', () => {
    expect(withoutPasswords('["-u","ann:s3","--password", "s4"]')).toBe(
      '["-u","ann:[password]","--password", "[password]"]',
    )
    expect(withoutPasswords('Bash({"command":"x --password \\"s3')).toBe(
      'Bash({"command":"x --password \\"[password]',
    )
  })

  it.each(['sudo -u ann ls', 'docker login --password-stdin', 'git push -u origin main'])(
    'changes nothing in %j, which has none',
    (text) => {
      expect(withoutPasswords(text)).toBe(text)
    },
  )
})
