// The certificates of the tests' brokers. Their random bytes must not make them unreadable, once in
// some hundred runs.

import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { integer, makeCertificates } from './certificates.ts'

describe('a serial number', () => {
  it.each([
    ['is written unchanged', [0x12, 0x34], [0x12, 0x34]],
    ['is never negative', [0x80, 0x01], [0x00, 0x80, 0x01]],
    ['has no zeros in front', [0x00, 0x00, 0x12], [0x12]],
    ['keeps the zero that makes it positive', [0x00, 0x80], [0x00, 0x80]],
    ['may be zero', [0x00, 0x00], [0x00]],
  ])('%s', (_, bytes, written) => {
    expect([...integer(Buffer.from(bytes))]).toEqual([0x02, written.length, ...written])
  })
})

describe('certificates', () => {
  it('can be read and checked by a client', () => {
    const { authority, broker, client } = makeCertificates(['localhost', '127.0.0.1'])
    const issuer = new X509Certificate(authority)
    for (const { certificate } of [broker, client])
      expect(new X509Certificate(certificate).verify(issuer.publicKey)).toBe(true)
    expect(new X509Certificate(broker.certificate).checkHost('localhost')).toBe('localhost')
  })
})
