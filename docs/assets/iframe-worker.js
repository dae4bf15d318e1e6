// SPDX-License-Identifier: Apache-2.0
// Pages opened from disk may not start workers: the search runs in a hidden frame of the page instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.waiting = [];
      document.body.appendChild(frame);
      const inside = (this.inside = frame.contentWindow);
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...addresses) =>
        addresses.reduce((before, next) => before.then(() => this.load(next)), Promise.resolve());
      this.load(address).then(() => {
        this.ready = true;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
    }

    load(address) {
      return new Promise((done, failed) => {
        const script = this.inside.document.createElement("script");
        script.src = new URL(address, location.href);
        script.onload = done;
        script.onerror = failed;
        this.inside.document.body.appendChild(script);
      });
    }

    postMessage(data) {
      if (!this.ready) return void this.waiting.push(data);
      this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
    }
  };
}
