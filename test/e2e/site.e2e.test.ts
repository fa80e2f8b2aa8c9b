// The site (docs/.vitepress): each page of the docs, with links that lead somewhere, on a phone and on a wide
// screen. Without a Chromium on the machine, the tests of screens are skipped and reported as such.

import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Browser, findChromium, openChromium } from '../support/chromium.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'weir-site-'))
const textOf = (page: string) => readFileSync(join(folder, page), 'utf8')
const buildMsMax = 240_000
let pages: string[]

beforeAll(() => {
  const vitepress = join(root, 'node_modules/vitepress/bin/vitepress.js')
  execFileSync(process.execPath, [vitepress, 'build', join(root, 'docs'), '--outDir', folder], {
    stdio: 'pipe',
  })
  pages = globSync('**/*.html', { cwd: folder }).filter((page) => page !== '404.html')
}, buildMsMax)
afterAll(() => rmSync(folder, { recursive: true }))

it('has a page for README.md, for each page of the docs, and for each plug-in', () => {
  const sources = globSync(['*.md', 'docs/**/*.md', 'integrations/*/README.md'], { cwd: root })
  expect(sources.length).toBeGreaterThan(40)
  expect(pages).toHaveLength(sources.length)
  expect(textOf('index.html')).toContain('<h1 id="weir"')
})

it('links only to files and headings that it has', () => {
  const links = pages.flatMap((page) =>
    [...textOf(page).matchAll(/ (?:href|src)="(?![a-z]+:)([^"]+)"/g)].map(([, link = '']) => {
      const [path = '', anchor] = link.split('#')
      return { page, link, anchor, file: fileOf(page, path) }
    }),
  )
  expect(links.length).toBeGreaterThan(300)
  const dead = links.filter(
    ({ file, anchor }) =>
      !existsSync(join(folder, file)) ||
      (anchor !== undefined && !textOf(file).includes(` id="${decodeURIComponent(anchor)}"`)),
  )
  expect(dead).toEqual([])
})

it('loads nothing from elsewhere', () => {
  for (const page of pages)
    expect(textOf(page)).not.toMatch(/<(?:img|link|script)[^>]+(?:src|href)="(?:[a-z]+:)?\/\//)
})

const program = findChromium()
const inBrowser = program === undefined ? describe.skip : describe

inBrowser('in a browser', () => {
  let browser: Browser
  let server: Server
  let address: string

  beforeAll(async () => {
    expect(pages).toBeDefined() // a page without a build never gets ready
    server = createServer((request, response) => {
      const path = fileOf('index.html', new URL(request.url ?? '/', 'http://site').pathname)
      const file = join(folder, path)
      if (!existsSync(file)) return response.writeHead(404).end()
      response.writeHead(200, { 'content-type': mediaTypes[extname(file)] ?? 'font/woff2' })
      return response.end(readFileSync(file))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await openChromium(program!)
  })
  afterAll(async () => {
    await browser.close()
    server.close()
  })

  async function open(page: string, width: number): Promise<void> {
    await browser.send('Emulation.setDeviceMetricsOverride', {
      width,
      height: 900,
      deviceScaleFactor: 1,
      mobile: false,
    })
    await browser.open(`${address}/${page}`)
    await becomes('document.querySelector("#app")?.__vue_app__ !== undefined')
  }

  async function becomes(expression: string): Promise<void> {
    await browser.evaluate(`new Promise((resolve) => {
      const look = () => (${expression}) ? resolve(true) : setTimeout(look, 20)
      look()
    })`)
  }

  it('no page is wider than a phone of 390 pixels', async () => {
    await open('index.html', 390)
    // One page after the other in a frame: the width of each counts, not its scripts.
    const wide = await browser.evaluate<string[]>(`(async () => {
      const wide = []
      const frame = document.body.appendChild(document.createElement('iframe'))
      frame.style.cssText = 'width: 390px; height: 900px; border: 0'
      for (const page of ${JSON.stringify(pages)}) {
        await new Promise((resolve) => { frame.onload = resolve; frame.src = '/' + page })
        const { scrollWidth } = frame.contentDocument.documentElement
        if (scrollWidth > 390) wide.push(page + ' ' + scrollWidth)
      }
      return wide
    })()`)
    expect(wide).toEqual([])
  })

  it('a search at 1440 pixels leads to the page about budgets', async () => {
    await open('index.html', 1440)
    await browser.evaluate('document.querySelector(".DocSearch-Button").click()')
    await becomes('document.querySelector(".search-input") !== null')
    await browser.evaluate(`(() => {
      const input = document.querySelector('.search-input')
      input.value = 'budget'
      input.dispatchEvent(new Event('input'))
    })()`)
    await becomes('document.querySelector(".results a[href*=budgets]") !== null')
  })

  it('the switch makes every page dark', async () => {
    await open('index.html', 1440)
    const light = await browser.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    await browser.evaluate('document.querySelector(".VPSwitchAppearance").click()')
    await becomes(
      `getComputedStyle(document.body).backgroundColor !== ${JSON.stringify(light)} && document.documentElement.classList.contains('dark')`,
    )
    await open('docs/guard/budgets.html', 1440)
    expect(await browser.evaluate('document.documentElement.classList.contains("dark")')).toBe(true)
    expect(browser.problems).toEqual([])
  })
})

const mediaTypes: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

/** The file of a link on a page, as a web server finds it. */
function fileOf(page: string, link: string): string {
  const path = link.startsWith('/') ? link.slice(1) : link === '' ? page : join(dirname(page), link)
  if (path === '' || path.endsWith('/')) return `${path}index.html`
  return decodeURIComponent(extname(path) === '' ? `${path}.html` : path)
}
