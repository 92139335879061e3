// Search from the disk. A browser starts no worker for a page of a file, so the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.importScripts = (...addresses) =>
        addresses.reduce((before, one) => before.then(() => load(inside, one)), Promise.resolve());
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      this.loaded = load(inside, new URL(address, location.href).href);
      this.send = (data) => inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      this.terminate = () => frame.remove();
    }
    postMessage(data) {
      this.loaded.then(() => this.send(data));
    }
  };
  function load(place, address) {
    return new Promise((done, failed) => {
      const script = place.document.createElement("script");
      script.src = address;
      script.onload = done;
      script.onerror = failed;
      place.document.body.append(script);
    });
  }
}
