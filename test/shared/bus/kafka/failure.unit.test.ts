import { describe, expect, it } from '@jest/globals'
import { protocolError } from '../../../../shared/bus/kafka/driver.ts'
import { asBusError, recoveryOf } from '../../../../shared/bus/kafka/failure.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'

const driverError = (name: string, message: string, code?: string) =>
  Object.assign(new Error(message), { name, code })

describe('an error of a broker', () => {
  it.each([
    [3, 'refresh', 'bus.topic-missing'],
    [6, 'refresh', 'bus.refused'],
    [7, 'retry', 'bus.refused'],
    [10, 'fail', 'bus.record-too-large'],
    [19, 'retry', 'bus.refused'],
    [29, 'fail', 'bus.unauthorized'],
    [30, 'fail', 'bus.unauthorized'],
    [34, 'refresh', 'bus.refused'],
    [35, 'fail', 'bus.refused'],
    [58, 'fail', 'bus.unauthorized'],
    [9999, 'retry', 'bus.refused'],
  ])('with code %d leads to %s, and is reported as %s', (code, recovery, weirCode) => {
    const error = protocolError(code)
    expect(recoveryOf(error)).toBe(recovery)
    expect(asBusError(error, 'write to t/0')).toMatchObject({
      code: weirCode,
      message: expect.stringContaining('write to t/0'),
      cause: error,
    })
  })

  it('is a lost connection, which a retry can fix, or a failed login, which it cannot', () => {
    const lost = driverError(
      'KafkaJSConnectionError',
      'Connection error: connect ECONNREFUSED',
      'ECONNREFUSED',
    )
    const ended = driverError(
      'KafkaJSSASLAuthenticationError',
      'SASL PLAIN authentication failed: Closed connection',
    )
    const refused = driverError(
      'KafkaJSSASLAuthenticationError',
      'SASL PLAIN authentication failed: Authentication failed: Invalid username',
    )
    const untrusted = driverError(
      'KafkaJSConnectionError',
      'Connection error: self-signed certificate',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    )
    // the broker disconnected while kafkajs looked for one
    const unnamed = new Error('Broker not connected')
    const described = [lost, ended, unnamed, refused, untrusted].map((error) => [
      recoveryOf(error),
      asBusError(error, 'x').code,
      asBusError(error, 'x').retryable,
    ])
    expect(described).toEqual([
      ['refresh', 'bus.unreachable', true],
      ['refresh', 'bus.unreachable', true],
      ['refresh', 'bus.unreachable', true],
      ['fail', 'bus.unauthorized', false],
      ['fail', 'bus.unauthorized', false],
    ])
  })

  it('returns a WeirError unchanged, and does not blame the broker for our own bugs', () => {
    const ours = new WeirError('bus.full', 'full', { retryable: true })
    expect([asBusError(ours, 'x'), recoveryOf(ours)]).toEqual([ours, 'retry'])
    expect(recoveryOf(new TypeError('undefined is not a function'))).toBe('fail')
  })
})
