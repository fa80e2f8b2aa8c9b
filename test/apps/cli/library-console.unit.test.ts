// The console of a command.

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { keepLibrariesPrintable } from '../../../apps/cli/library-console.ts'

const { debug, warn } = console
let written: string[]
let other: jest.Mock

beforeEach(() => {
  written = []
  other = jest.fn()
  console.warn = other as typeof console.warn
  console.debug = other as typeof console.debug
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text))
    return true
  })
  keepLibrariesPrintable()
})

afterEach(() => {
  jest.restoreAllMocks()
  Object.assign(console, { debug, warn })
})

describe('the console of a command', () => {
  it('shows warnings of the SDK of MCP on standard error without escape sequences', () => {
    console.warn("[mcp-sdk] excluding tool '\u001b[2Jx' from tools/list")
    console.debug('Client.listTools() called but server does not advertise tools capability')
    expect(written).toEqual([
      "[mcp-sdk] excluding tool '\\u{1b}[2Jx' from tools/list\n",
      'Client.listTools() called but server does not advertise tools capability\n',
    ])
    expect(other).not.toHaveBeenCalled()
  })

  it('leaves the lines of other code as they are', () => {
    console.warn('guard:', { a: 1 })
    expect(other).toHaveBeenCalledWith('guard:', { a: 1 })
    expect(written).toEqual([])
  })
})
