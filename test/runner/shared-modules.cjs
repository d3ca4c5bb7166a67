const { appendFileSync, readFileSync } = require('node:fs')
const { channel } = require('node:diagnostics_channel')
const { registerHooks } = require('node:module')
const { basename, dirname, relative } = require('node:path')
const { pathToFileURL } = require('node:url')
const { default: Runtime } = require('jest-runtime')

/**
 * Seconds of processor time: of this process, and of its children that have ended. proc(5), stat.
 */
function processorSeconds() {
  const [, ...fields] = readFileSync('/proc/self/stat', 'utf8').split(/\) /)[1].split(' ')
  const [user, system, childUser, childSystem] = fields
    .slice(10, 14)
    .map(ticks => Number(ticks) / 100)
  return { own: user + system, children: childUser + childSystem }
}

/** What kind of process it is: the script that Node runs, with its folder, or the program. */
const kindOf = ({ spawnargs: [program = '', ...args] }) => {
  const script = basename(program) === 'node' && args.find(arg => /\.[cm]?[jt]s$/.test(arg))
  return script ? script.split('/').slice(-2).join('/') : basename(program)
}

/** By kind of process, how many have ended, and their seconds of processor time. */
let ended = new Map()
const costs = process.env.TEST_COSTS
if (costs) {
  let children = 0
  channel('child_process').subscribe(({ process: child }) =>
    child.once('exit', () => {
      const before = children
      children = processorSeconds().children
      const { times, seconds } = ended.get(kindOf(child)) ?? { times: 0, seconds: 0 }
      ended.set(kindOf(child), { times: times + 1, seconds: seconds + children - before })
    }),
  )
}

/**
 * Adds to the file that TEST_COSTS names what a test file has cost: seconds of processor time,
 * seconds, project, path; then of the processor time, the seconds of Jest's worker itself and of
 * each kind of process that has ended, with their number.
 */
function measure({ rootDir, displayName }, path) {
  if (!costs) return () => {}
  const [before, began] = [processorSeconds(), performance.now()]
  ended = new Map()
  return () => {
    const { own, children } = processorSeconds()
    const [ofWorker, ofChildren] = [own - before.own, children - before.children]
    const figures = [ofWorker + ofChildren, (performance.now() - began) / 1000].map(n =>
      n.toFixed(2),
    )
    const kinds = Array.from(
      ended,
      ([kind, { times, seconds }]) => `${kind} ${times}x ${seconds.toFixed(2)}`,
    )
    const line = [
      ...figures,
      displayName?.name ?? 'browser',
      relative(rootDir, path),
      ofWorker.toFixed(2),
      ...kinds,
    ]
    appendFileSync(costs, `${line.join('\t')}\n`)
  }
}

/** Lets only the tests of a file run whose names match: suites.mjs. */
function runOnlyNamed(environment, pattern) {
  environment.handleTestEvent = ({ name }, state) => {
    if (name === 'setup') state.testNamePattern ??= pattern
  }
}

/**
 * Loads tests and what they test as Node loads the service: types stripped, no context of their
 * own. A process loads the service and its packages once for all its test files, which is what most
 * of their time went to. What is below test/ is anew for every test file, but for test/contract/:
 * it remembers nothing of a test file, and to read the document and to make the checks of its
 * answers takes most of the time of a small one.
 */
class SharedModules extends Runtime {
  constructor(config, environment, ...rest) {
    super(config, environment, ...rest)
    this.environment = environment
    this.given = Object.keys(config.globals)
    const { onlyNamed } = config.globals
    if (onlyNamed) runOnlyNamed(environment, new RegExp(onlyNamed, 'i'))
    this.environmentVariables = { ...process.env }
    this.measured = measure(config, rest[4])
    Object.assign(globalThis, config.globals)
  }

  unstable_shouldLoadAsEsm() {
    return true
  }

  /**
   * The tests' own functions, anew for every test file, with the classes that everything else has.
   */
  requireInternalModule(path) {
    delete require.cache[path]
    delete globalThis[Symbol.for('EVENT_HANDLERS')]
    return require(path)
  }

  setGlobalsForRuntime(globals) {
    current = { ...globals, jest: this.environment.moduleMocker }
  }

  async unstable_importModule(path) {
    loaded += 1
    // What runs is what was written: no stack has to be translated, and the service makes many that
    // nobody reads.
    Error.prepareStackTrace = undefined
    Error.stackTraceLimit = 10
    await import(`${pathToFileURL(path)}?${loaded}`)
  }

  teardown() {
    this.measured()
    for (const name of this.given) delete globalThis[name]
    for (const name of Object.keys(process.env)) delete process.env[name]
    Object.assign(process.env, this.environmentVariables)
    super.teardown()
  }
}

const tests = `${pathToFileURL(dirname(__dirname))}/`
const shared = `${tests}contract/`
/**
 * What a test can import; of `jest` there are mock functions and spies, and nothing that replaces
 * modules.
 */
const functions = [
  'afterAll',
  'afterEach',
  'beforeAll',
  'beforeEach',
  'describe',
  'expect',
  'it',
  'jest',
  'test',
]
let loaded = 0
let current = {}

registerHooks({
  resolve(specifier, context, next) {
    const of = /^file:.*\?(\d+)$/.exec(context.parentURL ?? '')?.[1]
    if (!of) return next(specifier, context)
    if (specifier === '@jest/globals')
      return { url: `jest:globals?${of}`, format: 'module', shortCircuit: true }
    const found = next(specifier, context)
    const isOwn =
      found.url.startsWith(tests) && !found.url.startsWith(shared) && found.url.endsWith('.ts')
    return isOwn ? { ...found, url: `${found.url}?${of}` } : found
  },
  load(url, context, next) {
    if (!url.startsWith('jest:globals?')) return next(url, context)
    globalThis.testFunctions = current
    return {
      format: 'module',
      source: `export const { ${functions} } = globalThis.testFunctions`,
      shortCircuit: true,
    }
  },
})

module.exports = { default: SharedModules, __esModule: true }
