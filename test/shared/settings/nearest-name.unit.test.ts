import { describe, expect, it } from '@jest/globals'
import { nearestName } from '../../../shared/settings/nearest-name.ts'

const keys = [
  'provider',
  'name',
  'baseUrl',
  'apiKey',
  'maxOutputTokens',
  'temperature',
  'timeoutMs',
  'environment',
]

describe('the nearest name', () => {
  it.each([
    ['base_url', 'baseUrl'],
    ['BaseURL', 'baseUrl'],
    ['provder', 'provider'],
    ['maxTokens', 'maxOutputTokens'],
    ['env', 'environment'],
    ['timeout', 'timeoutMs'],
    ['url', 'baseUrl'],
    ['nam', 'name'],
  ])('of %s is %s', (written, meant) => {
    expect(nearestName(written, keys)).toBe(meant)
  })

  it.each(['colour', 'x', '', '日本', 'toString'])('of %j is none', (written) => {
    expect(nearestName(written, keys)).toBe(undefined)
  })

  it('is the one with the fewest letters off, and the first of equals', () => {
    expect(nearestName('attempt', ['attemps', 'attempts', 'attempt1'])).toBe('attemps')
    expect(nearestName('wallMs', ['callMs', 'wallMs2', 'wallms'])).toBe('wallms')
  })
})
