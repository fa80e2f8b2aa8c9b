// The version of Weir, and of the Node.js that it needs.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { requireNode, version } from '../../../shared/lib/version.ts'

const { version: packed, engines } = JSON.parse(readFileSync('package.json', 'utf8'))
const needed = engines.node.replace('>=', '')

describe('the version', () => {
  it('is that of the package', () => expect(version()).toBe(packed))
})

describe('requireNode', () => {
  it.each(['20.20.2', '22.17.1'])('refuses Node.js %s and names the needed one', (running) =>
    expect(() => requireNode(running)).toThrow(
      `Node.js ${needed} or newer is needed, and this is ${running}: install a newer one (https://nodejs.org)`,
    ),
  )

  it.each([needed, '22.19.0', '24.0.0', '26.1.0'])('accepts Node.js %s', (running) =>
    expect(() => requireNode(running)).not.toThrow(),
  )
})
