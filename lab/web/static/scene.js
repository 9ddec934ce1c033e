// What a step finds in the cluster: laid out by a button, since it changes the cluster.

import { post, toldBy } from './api.js';
import { byId, setText } from './dom.js';
import { t } from './words.js';

/** The line above a step's text, for steps that find something. */
export class Scene {
  #step = 0;

  constructor() {
    byId('lay-out').addEventListener('click', () => this.#lay());
  }

  /** Shows it for a step that has a scene, hides it for others. */
  open({ number, has_scene: hasScene }) {
    if (number !== this.#step) setText(byId('laid-out'), '');
    this.#step = number;
    byId('scene').hidden = !hasScene;
    setText(byId('lay-out'), t('lay_out'));
  }

  async #lay() {
    const button = byId('lay-out');
    if (button.getAttribute('aria-disabled') === 'true') return;
    const step = this.#step;
    button.setAttribute('aria-disabled', 'true');
    setText(byId('laid-out'), t('laying_out'));
    const said = await post('start', { step }).then(
      ({ laid }) => t('laid_out', { objects: laid.join(', ') }), toldBy);
    button.removeAttribute('aria-disabled');
    if (step === this.#step) setText(byId('laid-out'), said);
  }
}
