/**
 * Kills the service or the client during multipart uploads, and lets the client finish them: `npm
 * run bench:kill`. Options: --engine sqlite|mysql (both by default), --rounds 50, --mib 200,
 * --seed.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { killUploads, type Tally } from '../support/kill-uploads.ts'
import { newMysql } from '../support/mysql.ts'
import { type Ground, openSite } from '../support/upload-site.ts'
import { MiB } from './service.ts'

const { values } = parseArgs({
  options: {
    engine: { type: 'string' },
    rounds: { type: 'string', default: '50' },
    mib: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
})

async function run(title: string, ground: Ground): Promise<void> {
  const [rounds, mib, seed] = [Number(values.rounds), Number(values.mib), Number(values.seed)]
  process.stdout.write(`${title}: ${rounds} rounds of ${mib} MiB, seed ${seed}\n`)
  const started = performance.now()
  const say = (line: string) => void process.stdout.write(`${line}\n`)
  const site = await openSite(ground)
  let tally: Tally
  try {
    tally = await killUploads({ site, rounds, size: mib * MiB, partBytes: 4 * MiB, seed, say })
    await site.expectHealed()
  } finally {
    await site.close()
  }
  for (const [what, times] of Object.entries(tally.kills).sort())
    say(`${String(times).padStart(4)} x ${what}`)
  say(
    `All ${rounds} were finished, byte for byte, in ${((performance.now() - started) / 60_000).toFixed(1)} minutes. ` +
      `${tally.kept} parts were there after the kills, and none of them was sent again; ${tally.again} others were.\n`,
  )
}

const engines: Record<string, () => Promise<void>> = {
  sqlite: () => run('SQLite', { databaseUrl: '' }),
  async mysql() {
    const { url, drop } = await newMysql(process.env.MYSQL_URL || 'mysql://root@127.0.0.1:3306')
    try {
      await run('MySQL and two instances', { databaseUrl: url })
    } finally {
      await drop()
    }
  },
}
for (const [name, kill] of Object.entries(engines))
  if (!values.engine || values.engine === name) await kill()
