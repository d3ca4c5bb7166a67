// Sends files in parts, several one after the other, with progress; what was interrupted goes on where it stopped.

const LONGEST_WAIT = 30_000
const form = document.querySelector('form[data-request]')
const pause = ms => new Promise(resolve => setTimeout(resolve, ms))
const sizes = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const say = text => {
  document.getElementById('status').textContent = text
}

function sizeText(bytes) {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1]
  return `${sizes.format(value)} ${units[unit]}`
}

/** What the service has refused, which no repetition changes. */
class Refused extends Error {
  constructor(status, { code, retry_after: retryAfter } = {}, message = '') {
    super(message)
    this.code = code
    this.waits = status === 429 || status >= 500 || code === 'UPLOAD_BUSY'
    this.retryAfter = retryAfter
  }
}

/** One request; `onSent` is told how many bytes of its body have left. Rejects with Refused, or with a TypeError where the network fails. */
function ask(method, path, { json, body, onSent, signal } = {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, form.dataset.request + path)
    request.setRequestHeader('Accept', 'application/json')
    request.setRequestHeader('X-Sender-Token', form.dataset.sender)
    if (json) request.setRequestHeader('Content-Type', 'application/json')
    if (body) request.setRequestHeader('Content-Type', 'application/octet-stream')
    request.upload.onprogress = event => onSent?.(event.loaded)
    request.onerror = () => reject(new TypeError('The network failed.'))
    request.onabort = () => reject(new DOMException('Cancelled.', 'AbortError'))
    request.onload = () => {
      let answer = {}
      try {
        answer = JSON.parse(request.responseText)
      } catch {
        // A page of something in between.
      }
      if (request.status === 200) resolve(answer.response)
      else reject(new Refused(request.status, answer.response, answer.msg))
    }
    signal?.addEventListener('abort', () => request.abort())
    request.send(json ? JSON.stringify(json) : (body ?? null))
  })
}

/** Repeats what the network or the service loses, until it is cancelled. */
async function persist(work, { signal, onWait }) {
  for (let wait = 1000; ; wait = Math.min(wait * 2, LONGEST_WAIT))
    try {
      return await work()
    } catch (error) {
      if (signal.aborted || error.name === 'AbortError' || (error instanceof Refused && !error.waits)) throw error
      onWait()
      await pause(Math.max(wait, (error.retryAfter ?? 0) * 1000))
      if (signal.aborted) throw error
    }
}

/** An upload of this file that was interrupted, in this tab. */
const keyOf = file => `upload ${form.dataset.request} ${file.name} ${file.size} ${file.lastModified}`

async function begin(file, patience) {
  const key = keyOf(file)
  const kept = sessionStorage.getItem(key)
  if (kept) {
    try {
      const { received, chunk_size } = await persist(() => ask('GET', `/uploads/${kept}`), patience)
      return { id: kept, chunk: chunk_size, received: new Set(received) }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      sessionStorage.removeItem(key)
    }
  }
  const json = { filename: file.name, size: file.size, ...(file.type ? { content_type: file.type } : {}) }
  const { upload_id, chunk_size } = await persist(() => ask('POST', '/uploads', { json }), patience)
  sessionStorage.setItem(key, upload_id)
  return { id: upload_id, chunk: chunk_size, received: new Set() }
}

async function sendFile(file, row, signal) {
  const patience = { signal, onWait: () => row.note('The connection is lost. Waiting …') }
  const { id, chunk, received } = await begin(file, patience)
  const count = Math.max(1, Math.ceil(file.size / chunk))
  const sizeOf = number => Math.min(chunk, file.size - (number - 1) * chunk)
  let done = [...received].reduce((sum, number) => sum + sizeOf(number), 0)
  for (let number = 1; number <= count; number++) {
    if (received.has(number)) continue
    const from = (number - 1) * chunk
    const body = file.slice(from, from + chunk)
    await persist(
      () => ask('PUT', `/uploads/${id}/parts/${number}`, { body, signal, onSent: sent => row.moved(done + sent) }),
      patience,
    )
    done += sizeOf(number)
    row.moved(done)
  }
  let lost = false
  const waits = { ...patience, onWait: () => (lost = true) }
  await persist(() => ask('POST', `/uploads/${id}/complete`, { json: {} }), waits).catch(async error => {
    if (!lost || error.code !== 'UPLOAD_NOT_FOUND') throw error
    // An answer was lost: that the file is there, or that the upload had ended before.
    const { sent } = await persist(() => ask('GET', ''), patience)
    if (sent.some(({ upload_id }) => upload_id === id)) return
    sessionStorage.removeItem(keyOf(file))
    throw new Error('The upload ended before the file was complete. Send it again.')
  })
  sessionStorage.removeItem(keyOf(file))
}

/** The line of a file in the list. */
function rowOf(file, cancel) {
  const line = document.createElement('li')
  const name = Object.assign(document.createElement('bdi'), { textContent: file.name })
  const bar = Object.assign(document.createElement('progress'), { max: Math.max(file.size, 1), value: 0 })
  bar.setAttribute('aria-label', `Sending ${file.name}`)
  const state = Object.assign(document.createElement('p'), { className: 'soft', textContent: 'Waiting' })
  const stop = Object.assign(document.createElement('button'), { type: 'button', className: 'quiet' })
  stop.append(
    'Cancel',
    Object.assign(document.createElement('span'), { className: 'sr', textContent: ` ${file.name}` }),
  )
  stop.addEventListener('click', cancel)
  const text = Object.assign(document.createElement('div'), { className: 'grow' })
  text.append(name, state, bar)
  line.append(text, stop)
  document.querySelector('.sent ul').prepend(line)
  document.querySelector('.sent').hidden = false
  return {
    moved(bytes) {
      bar.value = bytes
      state.textContent = `${sizeText(Math.min(bytes, file.size))} of ${sizeText(file.size)}`
    },
    note(words) {
      state.textContent = words
    },
    ended(words, wrong) {
      bar.remove()
      stop.remove()
      state.textContent = words
      state.className = wrong ? 'problem' : 'soft'
      line.className = wrong ? 'failed' : 'done'
      say(`${file.name}: ${words}`)
    },
  }
}

let queue = Promise.resolve()

function add(files) {
  for (const file of files) {
    const stop = new AbortController()
    const row = rowOf(file, () => stop.abort())
    queue = queue.then(async () => {
      try {
        if (stop.signal.aborted) throw new DOMException('Cancelled.', 'AbortError')
        if (file.size > Number(form.dataset.largest))
          throw new Error(`This file has more than ${sizeText(Number(form.dataset.largest))}.`)
        row.moved(0)
        await sendFile(file, row, stop.signal)
        row.ended(`Sent · ${sizeText(file.size)}`, false)
      } catch (error) {
        const kept = sessionStorage.getItem(keyOf(file))
        if (stop.signal.aborted && kept) {
          sessionStorage.removeItem(keyOf(file))
          await ask('DELETE', `/uploads/${kept}`).catch(() => {})
        }
        row.ended(stop.signal.aborted ? 'Cancelled' : error.message, !stop.signal.aborted)
      }
    })
  }
}

if (form) {
  const input = form.querySelector('input[type=file]')
  input.multiple = true
  input.required = false
  form.querySelector('label').textContent = 'Choose files, or drop them here'
  form.querySelector('button').hidden = true
  form.classList.add('scripted')
  input.addEventListener('change', () => {
    add([...input.files])
    input.value = ''
  })
  form.addEventListener('submit', event => event.preventDefault())
  const drop = form.querySelector('.drop')
  for (const kind of ['dragenter', 'dragover'])
    document.addEventListener(kind, event => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      drop.classList.add('over')
    })
  document.addEventListener('dragleave', event => {
    if (!event.relatedTarget) drop.classList.remove('over')
  })
  document.addEventListener('drop', event => {
    drop.classList.remove('over')
    if (!event.dataTransfer?.files.length) return
    event.preventDefault()
    add([...event.dataTransfer.files])
  })
}
