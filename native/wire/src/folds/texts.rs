//! Texts by numbers, so that what is told apart by texts is told apart by words.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::exchange::row::List;

/// Each text, and each list of texts, once. Senders choose them, so they are hashed with the seed of the process.
#[derive(Debug, Default)]
pub(super) struct Texts {
    texts: Vec<Box<str>>,
    places: HashTable<u32>,
    lists: Vec<Box<[u32]>>,
    places_of_lists: HashTable<u32>,
    seed: RandomState,
    bytes: usize,
    /// Of a list that is looked up.
    numbers: Vec<u32>,
}

impl Texts {
    /// The number of a text.
    pub fn intern(&mut self, text: &str) -> u32 {
        let hash = self.seed.hash_one(text);
        if let Some(&place) = self.places.find(hash, |&place| &*self.texts[place as usize] == text) {
            return place;
        }
        let place = self.texts.len() as u32;
        self.texts.push(text.into());
        self.bytes += text.len() + size_of::<Box<str>>();
        let Texts { texts, seed, .. } = self;
        self.places
            .insert_unique(hash, place, |&place| seed.hash_one(&*texts[place as usize]));
        place
    }

    /// The number of a list of texts.
    pub fn intern_list(&mut self, list: List<'_>) -> u32 {
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.clear();
        numbers.extend(list.iter().map(|text| self.intern(text)));
        let place = self.intern_numbers(&numbers);
        self.numbers = numbers;
        place
    }

    /// The number of the list of the first of its texts only.
    pub fn first_of(&mut self, list: u32) -> u32 {
        let first = self.list(list).first().copied();
        self.intern_numbers(first.as_slice())
    }

    fn intern_numbers(&mut self, numbers: &[u32]) -> u32 {
        let hash = self.seed.hash_one(numbers);
        let found = self
            .places_of_lists
            .find(hash, |&place| &*self.lists[place as usize] == numbers);
        if let Some(&place) = found {
            return place;
        }
        let place = self.lists.len() as u32;
        self.bytes += size_of_val(numbers) + size_of::<Box<[u32]>>();
        self.lists.push(numbers.into());
        let Texts { lists, seed, .. } = self;
        self.places_of_lists
            .insert_unique(hash, place, |&place| seed.hash_one(&*lists[place as usize]));
        place
    }

    /// The text of a number that was given for it.
    pub fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    /// The texts of a list.
    pub fn list(&self, number: u32) -> &[u32] {
        &self.lists[number as usize]
    }

    /// Whether this text has that number.
    pub fn is(&self, number: u32, text: &str) -> bool {
        self.text(number) == text
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
