import { describe, expect, it } from '@jest/globals'
import { readSettings } from '../../shared/settings.ts'

describe('settings', () => {
  it('have a default each', () => {
    expect(readSettings({}, {})).toEqual({
      dataFolder: '.weir',
      topicPrefix: 'weir.',
      partitions: 4,
      synchronous: 'normal',
      logLevel: 'info',
    })
  })

  it('come from the flag, else from the environment', () => {
    expect(readSettings({ partitions: '2' }, { WEIR_PARTITIONS: '3', WEIR_LOG_LEVEL: 'debug' })).toMatchObject({
      partitions: 2,
      logLevel: 'debug',
    })
  })

  it('name every bad value, where it came from, and what would be accepted', () => {
    let message = ''
    try {
      readSettings({ partitions: '0' }, { WEIR_LOG_LEVEL: 'loud', WEIR_SYNCHRONOUS: 'full' })
    } catch (error) {
      message = (error as Error).message
    }
    expect(message).toBe(
      'Settings cannot be used.\n' +
        '  partitions is "0" (from the flag --partitions): it must be >= 1\n' +
        '  logLevel is "loud" (from the variable WEIR_LOG_LEVEL): it must be equal to one of the allowed values (trace, debug, info, warn, error, fatal, silent)',
    )
  })

  it.each(['2.5', 'many', '', '1e9'])('do not take %j for a number of partitions', (value) => {
    expect(() => readSettings({ partitions: value }, {})).toThrow(expect.objectContaining({ code: 'settings.invalid' }))
  })
})
