import Uppy from '@uppy/core'
import Tus from '@uppy/tus'

/** The interface of the page for the test. */
const shown = { uploaded: 0, done: [], failed: [] }
window.shown = shown

const uppy = new Uppy({ autoProceed: true }).use(Tus, {
  endpoint: '/api/tus',
  chunkSize: 1_000_000,
})
uppy.on('upload-progress', (_file, { bytesUploaded }) => {
  shown.uploaded = Math.max(shown.uploaded, Number(bytesUploaded))
})
uppy.on('upload-success', file => shown.done.push(file.name))
uppy.on('upload-error', (_file, error) => shown.failed.push(error.message))

document.querySelector('input').addEventListener('change', event => {
  for (const file of event.target.files)
    uppy.addFile({ name: file.name, type: file.type, data: file, meta: { folder: 'from uppy' } })
})
