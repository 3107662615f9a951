// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of components, states and events, interned to small ids.

use std::collections::HashMap;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u16);

        impl $name {
            /// The id as an index.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A part that is in exactly one state at a time: "cpu", "flash", "radio".
    ComponentId
);
id!(
    /// The name of a state: "active.flash", "lpm3", "off". Components may share state names.
    StateId
);
id!(
    /// Something counted: "mpy32.op32", "flash.word_write".
    EventId
);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Names {
    names: Vec<String>,
    ids: HashMap<String, u16>,
}

impl Names {
    fn intern(&mut self, name: &str) -> u16 {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = u16::try_from(self.names.len()).expect("a machine has fewer than 65536 names");
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }
}

/// Every name that a machine can report, each with its id. The power room's coefficients must cover
/// them all: a missing one is an error there, never a zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vocabulary {
    components: Names,
    states: Names,
    events: Names,
}

impl Vocabulary {
    /// Makes a vocabulary without any name.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The id of component `name`, made if new.
    pub fn component(&mut self, name: &str) -> ComponentId {
        ComponentId(self.components.intern(name))
    }

    /// The id of state `name`, made if new.
    pub fn state(&mut self, name: &str) -> StateId {
        StateId(self.states.intern(name))
    }

    /// The id of event `name`, made if new.
    pub fn event(&mut self, name: &str) -> EventId {
        EventId(self.events.intern(name))
    }

    /// The id of component `name`, if known.
    #[must_use]
    pub fn find_component(&self, name: &str) -> Option<ComponentId> {
        self.components.ids.get(name).copied().map(ComponentId)
    }

    /// The id of state `name`, if known.
    #[must_use]
    pub fn find_state(&self, name: &str) -> Option<StateId> {
        self.states.ids.get(name).copied().map(StateId)
    }

    /// The id of event `name`, if known.
    #[must_use]
    pub fn find_event(&self, name: &str) -> Option<EventId> {
        self.events.ids.get(name).copied().map(EventId)
    }

    /// The name of a component of this vocabulary.
    #[must_use]
    pub fn component_name(&self, id: ComponentId) -> &str {
        &self.components.names[id.index()]
    }

    /// The name of a state of this vocabulary.
    #[must_use]
    pub fn state_name(&self, id: StateId) -> &str {
        &self.states.names[id.index()]
    }

    /// The name of an event of this vocabulary.
    #[must_use]
    pub fn event_name(&self, id: EventId) -> &str {
        &self.events.names[id.index()]
    }

    /// All components in order of their ids.
    pub fn components(&self) -> impl ExactSizeIterator<Item = (ComponentId, &str)> {
        self.components.names.iter().enumerate().map(|(i, n)| (ComponentId(i as u16), n.as_str()))
    }

    /// All states in order of their ids.
    pub fn states(&self) -> impl ExactSizeIterator<Item = (StateId, &str)> {
        self.states.names.iter().enumerate().map(|(i, n)| (StateId(i as u16), n.as_str()))
    }

    /// All events in order of their ids.
    pub fn events(&self) -> impl ExactSizeIterator<Item = (EventId, &str)> {
        self.events.names.iter().enumerate().map(|(i, n)| (EventId(i as u16), n.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_id_and_an_id_one_name() {
        let mut v = Vocabulary::new();
        let cpu = v.component("cpu");
        let flash = v.component("flash");
        assert_ne!(cpu, flash);
        assert_eq!(v.component("cpu"), cpu);
        assert_eq!(v.component_name(flash), "flash");
        assert_eq!(v.find_component("radio"), None);
        let lpm3 = v.state("lpm3");
        assert_eq!(v.find_state("lpm3"), Some(lpm3));
        assert_eq!(v.find_event("lpm3"), None);
        let e = v.event("mpy32.op32");
        assert_eq!(v.events().collect::<Vec<_>>(), [(e, "mpy32.op32")]);
        assert_eq!(v.components().map(|(_, n)| n).collect::<Vec<_>>(), ["cpu", "flash"]);
        assert_eq!(v.states().len(), 1);
    }
}
