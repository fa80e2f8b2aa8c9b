// The errors of the embedded bus for SQLite's result codes.

import { expect, test } from '@jest/globals'

import { asBusError } from '../../../shared/bus/embedded/failure.ts'
import { WeirError } from '../../../shared/lib/errors.ts'

test.each([
  ['SQLITE_FULL', 13, 'bus.full', true],
  ['SQLITE_BUSY', 5, 'bus.unwritable', true],
  ['SQLITE_IOERR_WRITE', 10 | (3 << 8), 'bus.unwritable', false],
  ['SQLITE_READONLY', 8, 'bus.unwritable', false],
  ['SQLITE_CANTOPEN', 14, 'bus.unwritable', false],
  ['SQLITE_NOTADB', 26, 'bus.not-a-database', false],
  ['SQLITE_CORRUPT_INDEX', 11 | (3 << 8), 'bus.not-a-database', false],
  ['SQLITE_MISUSE', 21, 'bus.unwritable', false],
])('%s becomes an error that names the file and keeps its cause', (_, errcode, code, retryable) => {
  const cause = Object.assign(new Error('what SQLite said'), { errcode })
  const error = asBusError(cause, '/data/weir.sqlite')
  expect(error).toMatchObject({ code, retryable, cause })
  expect(error.message).toContain('/data/weir.sqlite')
})

test('an error of Weir stays unchanged', () => {
  const error = new WeirError('bus.closed', 'closed')
  expect(asBusError(error, '/data/weir.sqlite')).toBe(error)
})
